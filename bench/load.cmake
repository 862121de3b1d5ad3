# The load side: the floor to compare with and the generator that loads all contenders alike.
add_library(bench_common STATIC common/flags.cc common/socket.cc)
target_link_libraries(bench_common PUBLIC stile::options)

add_executable(floor floor/main.cc floor/reactor.cc floor/relay.cc floor/pump.cc floor/forward.cc)
target_link_libraries(floor PRIVATE bench_common)

add_executable(loadgen
  load/main.cc load/loop.cc load/origin.cc load/report.cc load/tunnel.cc
  load/connect.cc load/bulk.cc load/get.cc load/hold.cc)
target_link_libraries(loadgen PRIVATE bench_common)
