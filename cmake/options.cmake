# Flags for our own targets: warnings, hardening, sanitizers. Every target links stile::options.
add_library(stile_options INTERFACE)
add_library(stile::options ALIAS stile_options)

target_compile_options(stile_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wsign-conversion
  -Wnon-virtual-dtor -Wold-style-cast -Wimplicit-fallthrough)
# In a unity build g++ treats every type of an unnamed namespace as if it came from a header.
target_compile_options(stile_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
# clang also reports a local that hides a name of another file of the same unity build.
target_compile_options(stile_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-shadow>)
target_include_directories(stile_options INTERFACE ${PROJECT_SOURCE_DIR})

# Asio: no deprecated names, and the reactor's descriptors need no lock (one loop, one thread).
target_compile_definitions(stile_options INTERFACE BOOST_ASIO_NO_DEPRECATED)

if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(stile_options INTERFACE
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS
    -fstack-protector-strong -fstack-clash-protection -fcf-protection)
endif()
# In every build: resolving a function at its first call saves all vector registers on the stack, and
# they may hold a secret that memcpy moved.
target_link_options(stile_options INTERFACE -Wl,-z,relro,-z,now)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported()

if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  # Line numbers for stack traces and no more: half of the bytes to write and to link.
  string(REPLACE "-g" "-g1" CMAKE_CXX_FLAGS_DEBUG "${CMAKE_CXX_FLAGS_DEBUG}")
  find_program(MOLD mold)
  if(MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

if(STILE_SANITIZE)
  list(JOIN STILE_SANITIZE "," sanitizers)
  # For all folders at once, so that a target may add a check that is left out here.
  add_compile_options(
    -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # The vptr check opens a pipe, and reports a bad object if no descriptor is free.
    -fno-sanitize=vptr
    # Code for each access, a third of all. Only the data path has them (library.cmake): elsewhere a null pointer
    # still ends in a report, and these processors read any address.
    -fno-sanitize=null,alignment)
  add_link_options(-fsanitize=${sanitizers})
  if("thread" IN_LIST STILE_SANITIZE)
    # g++ warns that the sanitizer does not support Asio's fences; its queues also use locks.
    add_compile_options(-Wno-tsan)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # clang 14 cannot place this check's function prefix for the parts of a coroutine.
    add_compile_options(-fno-sanitize=function)
  endif()
endif()
