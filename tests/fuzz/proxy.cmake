# Parsers that a client, an origin or a DNS server feeds.
stile_fuzzer(client_hello LINK stile::tls)
stile_fuzzer(absolute_target LINK stile::http)
stile_fuzzer(chunked LINK stile::http)
stile_fuzzer(git_push LINK stile::http)
stile_fuzzer(graphql LINK stile::http)
stile_fuzzer(request_head LINK stile::http)
stile_fuzzer(response_head LINK stile::http)
stile_fuzzer(usage LINK stile::http)
stile_fuzzer(websocket LINK stile::http)
stile_fuzzer(dns_answer LINK stile::dns_answer)
stile_fuzzer(dns_question LINK stile::dns_answer)
# The kernel's, which is trusted, but not to be short of a bug.
stile_fuzzer(rtnetlink LINK stile::rtnetlink)
# Another daemon's, which is trusted, but may be another version.
stile_fuzzer(handover LINK stile::session stile::handover_message)
# Files of the operator.
stile_fuzzer(name_files LINK stile::dns)

# Whole connections: the real session code on a clock, a network and a disk that the fuzzer plays.
stile_fuzzer(connection LINK stile::session stile::net stile::intercept)
target_sources(connection_fuzz PRIVATE
  connection_judge.cc connection_pieces.cc connection_policy.cc connection_world.cc
  simulated_dns.cc simulation.cc)
target_link_options(connection_fuzz PRIVATE
  -Wl,--wrap=connect,--wrap=epoll_wait,--wrap=write)
