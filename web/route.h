// Route: what a method and a path ask for. One table, so that a new endpoint is a new row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stile::web {

enum class WebEndpoint : std::uint8_t {
  none,          // no such path
  other_method,  // the path exists, but not with this method
  asset,         // a file of the page; needs no session
  login,         // exchanges a token for a session
  logout,
  events,         // the stream of server-sent events
  hosts,          // who reached what, from the lines that were seen
  control,        // a request to the daemon
  check,          // what a typed config would change
  workers,        // a request to the spawner, for a page
  worker_events,  // the stream of events about workers alone
  a2a,            // a request to one worker, by a program that has its token
};

struct Route {
  WebEndpoint endpoint = WebEndpoint::none;
  std::string_view action{};  // for control and workers: what is done
  std::string_view field{};   // and the field that the name in the path fills: agent or ask
  std::string name{};         // that name; for workers and a2a: the worker
  std::string rest{};         // for a2a: the path below that name
};

enum class WebMethod : std::uint8_t { get, post, other };

[[nodiscard]] Route find_route(WebMethod method, std::string_view path);

}  // namespace stile::web
