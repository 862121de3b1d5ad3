# With sanitizers most of a build is the generation of code. Only what every byte of an agent passes is optimised and
# has the checks of each pointer.
set(data_path acl audit base dns dns_answer http intercept net proxy_base scan session tls)

# stile_library(name SOURCES a.cc … LINK public… PRIVATE_LINK private…): one folder, one static library stile::name.
function(stile_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(stile_${name} STATIC ${arg_SOURCES})
  add_library(stile::${name} ALIAS stile_${name})
  target_link_libraries(stile_${name} PUBLIC stile::options ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK})
  if(NOT STILE_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "Debug" AND name STREQUAL "scan")
    target_compile_options(stile_${name} PRIVATE -O1)  # its tests read megabytes
  endif()
  if(STILE_SANITIZE AND name IN_LIST data_path)
    target_compile_options(stile_${name} PRIVATE -O1)
    if("undefined" IN_LIST STILE_SANITIZE)
      target_compile_options(stile_${name} PRIVATE -fsanitize=null,alignment)
    endif()
  endif()
endfunction()
