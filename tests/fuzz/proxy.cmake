# Parsers that a client, an origin or a DNS server feeds.
stile_fuzzer(client_hello LINK stile::tls)
