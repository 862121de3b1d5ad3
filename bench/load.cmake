# The load side: the floor to compare with and the generator that loads all contenders alike.
add_library(bench_common STATIC common/flags.cc common/socket.cc common/tls.cc)
target_link_libraries(bench_common PUBLIC stile::options OpenSSL::SSL)

add_executable(floor floor/main.cc floor/reactor.cc floor/relay.cc floor/pump.cc floor/forward.cc
  floor/terminate.cc)
target_link_libraries(floor PRIVATE bench_common)

# The same on Boost.Asio: what the loop of the workers is compared with (docs/decisions/0001).
add_executable(asio_floor asio_floor/main.cc asio_floor/callbacks.cc asio_floor/coroutines.cc)
target_link_libraries(asio_floor PRIVATE bench_common Boost::headers Threads::Threads)

add_executable(loadgen
  load/main.cc load/loop.cc load/origin.cc load/report.cc load/tunnel.cc
  load/connect.cc load/bulk.cc load/get.cc load/hold.cc
  load/tls_get.cc load/tls_origin.cc)
target_link_libraries(loadgen PRIVATE bench_common)
