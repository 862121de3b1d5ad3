// Route: what a method and a path ask for. One table, so that a new endpoint is a new row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stile::web {

enum class Endpoint : std::uint8_t {
  none,          // no such path
  other_method,  // the path exists, but not with this method
  asset,         // a file of the page; needs no session
  login,         // exchanges a token for a session
  logout,
  events,   // the stream of server-sent events
  hosts,    // who reached what, from the lines that were seen
  control,  // a request to the daemon
};

struct Route {
  Endpoint endpoint = Endpoint::none;
  std::string_view action{};  // for control: the daemon's action
  std::string_view field{};   // and the field that the name in the path fills: agent or ask
  std::string name{};         // that name
};

enum class Method : std::uint8_t { get, post, other };

[[nodiscard]] Route find_route(Method method, std::string_view path);

}  // namespace stile::web
