// Fuzzes the target and the cookies of a browser's request: what is decoded is never longer than it
// was, and a route is found only for a path without escapes, but for what follows the name of a
// worker.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "web/route.h"
#include "web/target.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stile::web;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto target = parse_target(text)) {
    std::size_t decoded = target->path.size();
    for (const auto& [key, value] : target->query) decoded += key.size() + value.size();
    require(decoded <= size && target->query.size() <= max_query_members);
    require(target->path.find('?') == std::string::npos);
    const auto route = find_route(WebMethod::post, target->path);
    const auto matched = target->path.substr(0, target->path.size() - route.rest.size());
    require(route.endpoint == WebEndpoint::none || matched.find('%') == std::string::npos);
    require(route.name.find_first_of("\"\\/\n%") == std::string::npos);
  }
  require(cookie_value(text, "stile-web").find(';') == std::string::npos);
  return 0;
}
