# Parsers on the request path: nanoseconds per head, hello and answer; beside Beast and c-ares.
add_executable(parsers_bench parsers_bench.cc)
target_link_libraries(parsers_bench PRIVATE stile::options stile::http stile::tls stile::dns_answer
  Boost::headers PkgConfig::cares benchmark::benchmark_main)
