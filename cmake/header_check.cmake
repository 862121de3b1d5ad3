# header_check: every header compiles alone, so it needs no other include before it. A part of `make test-full`:
# the batches of the other builds would not show it.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/*.h)
set(stubs "")
foreach(header ${headers})
  if(NOT header MATCHES "^(bench|build|tests)/")
    set(stub ${PROJECT_BINARY_DIR}/header_check/${header}.cc)
    file(CONFIGURE OUTPUT ${stub} CONTENT "#include \"${header}\"\n")
    list(APPEND stubs ${stub})
  endif()
endforeach()

add_library(header_check OBJECT ${stubs})
set_target_properties(header_check PROPERTIES UNITY_BUILD OFF)
target_link_libraries(header_check PRIVATE stile::options)
target_compile_options(header_check PRIVATE -g0)
