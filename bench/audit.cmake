add_executable(audit_bench audit_bench.cc)
target_link_libraries(audit_bench PRIVATE stile::options stile::audit benchmark::benchmark)
