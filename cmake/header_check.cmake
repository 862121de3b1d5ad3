# header_check: every header compiles alone, so it needs no other include before it.
#
# A header with a .cc of the same name is the first include there (tests/lint checks that). For the
# others, a file that only includes the header is compiled here.
set(stubs "")
foreach(folder base acl config audit proxy control cli netns a2a web)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/${folder}/*.h)
  foreach(header ${headers})
    string(REGEX REPLACE "h$" "cc" own_source ${header})
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${own_source})
      set(stub ${PROJECT_BINARY_DIR}/header_check/${header}.cc)
      file(CONFIGURE OUTPUT ${stub} CONTENT "#include \"${header}\"\n")
      list(APPEND stubs ${stub})
    endif()
  endforeach()
endforeach()

if(stubs)
  add_library(header_check OBJECT ${stubs})
  target_link_libraries(header_check PRIVATE stile::options)
  target_compile_options(header_check PRIVATE -g0)
endif()
