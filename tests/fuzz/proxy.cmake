# Parsers that a client, an origin or a DNS server feeds.
stile_fuzzer(client_hello LINK stile::tls)
stile_fuzzer(absolute_target LINK stile::http)
stile_fuzzer(chunked LINK stile::http)
stile_fuzzer(request_head LINK stile::http)
stile_fuzzer(response_head LINK stile::http)
stile_fuzzer(dns_answer LINK stile::dns_answer)
