add_executable(acl_bench acl/build_bench.cc acl/decide_bench.cc acl/names.cc)
target_link_libraries(acl_bench PRIVATE stile::options stile::acl benchmark::benchmark_main)
