# Scans: what looking through a body costs, clean and made to hurt.
add_executable(scan_bench scan_bench.cc ${PROJECT_SOURCE_DIR}/tests/scan/samples.cc)
target_include_directories(scan_bench PRIVATE ${PROJECT_SOURCE_DIR}/tests/scan)
target_link_libraries(scan_bench PRIVATE stile::options stile::scan PkgConfig::re2 ZLIB::ZLIB benchmark::benchmark_main)
