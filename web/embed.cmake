# cmake -DFOLDER=… -DFILES="a.js;b.css" -DOUT=assets.cc -P embed.cmake: writes the files as C++ arrays.
set(arrays "")
set(rows "")
foreach(name ${FILES})
  file(READ ${FOLDER}/${name} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(MAKE_C_IDENTIFIER ${name} identifier)
  if(name MATCHES "\\.js$")
    set(type "text/javascript; charset=utf-8")
  elseif(name MATCHES "\\.css$")
    set(type "text/css; charset=utf-8")
  elseif(name MATCHES "\\.svg$")
    set(type "image/svg+xml")
  else()
    set(type "text/html; charset=utf-8")
  endif()
  if(name STREQUAL index.html)
    set(path "/")
  else()
    set(path "/${name}")
  endif()
  string(APPEND arrays "constexpr char ${identifier}[] = {${bytes}};\n")
  string(APPEND rows "    Asset{\"${path}\", \"${type}\", {${identifier}, sizeof ${identifier}}},\n")
endforeach()
file(WRITE ${OUT} "// Made by web/embed.cmake.
#include \"web/assets.h\"

#include <algorithm>
#include <array>

namespace stile::web {
namespace {

${arrays}
constexpr std::array assets{
${rows}};

}  // namespace

const Asset* find_asset(std::string_view path) noexcept {
  const auto* found = std::find_if(assets.begin(), assets.end(),
                                   [path](const Asset& asset) { return asset.path == path; });
  return found == assets.end() ? nullptr : found;
}

}  // namespace stile::web
")
