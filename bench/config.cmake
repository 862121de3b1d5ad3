# Reading a policy: a long list file, and a config with many agents.
add_executable(config_bench config_bench.cc)
target_link_libraries(config_bench PRIVATE stile::options stile::config benchmark::benchmark_main)
