// Route: the table of endpoints.
#include "web/route.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.h"
#include "web/assets.h"

namespace stile::web {
namespace {

struct Row {
  Method method;
  std::string_view path;  // {} is one name
  Endpoint endpoint;
  std::string_view action{}, field{};
};

constexpr std::array rows{
    Row{Method::post, "/api/v1/login", Endpoint::login},
    Row{Method::post, "/api/v1/logout", Endpoint::logout},
    Row{Method::get, "/api/v1/events", Endpoint::events},
    Row{Method::get, "/api/v1/hosts", Endpoint::hosts},
    Row{Method::get, "/api/v1/status", Endpoint::control, "status"},
    Row{Method::get, "/api/v1/connections", Endpoint::control, "connections"},
    Row{Method::get, "/api/v1/policy", Endpoint::control, "agents"},
    Row{Method::get, "/api/v1/policy/{}", Endpoint::control, "agent", "agent"},
    Row{Method::post, "/api/v1/policy/{}/allow", Endpoint::control, "allow", "agent"},
    Row{Method::post, "/api/v1/policy/{}/revoke", Endpoint::control, "revoke", "agent"},
    Row{Method::post, "/api/v1/policy/{}/mode", Endpoint::control, "mode", "agent"},
    Row{Method::post, "/api/v1/policy/{}/budget-reset", Endpoint::control, "budget-reset", "agent"},
    Row{Method::post, "/api/v1/policy/{}/explain", Endpoint::control, "explain", "agent"},
    Row{Method::post, "/api/v1/mode", Endpoint::control, "mode"},
    Row{Method::get, "/api/v1/asks", Endpoint::control, "asks"},
    Row{Method::post, "/api/v1/asks/{}/answer", Endpoint::control, "answer", "ask"},
    Row{Method::get, "/api/v1/config", Endpoint::control, "config"},
    Row{Method::post, "/api/v1/config/check", Endpoint::check},
    Row{Method::post, "/api/v1/agents/spawn", Endpoint::workers, "spawn"},
    Row{Method::get, "/api/v1/agents/active", Endpoint::workers, "active"},
    Row{Method::post, "/api/v1/agents/stop-all", Endpoint::workers, "stop-all"},
    Row{Method::get, "/api/v1/agents/status", Endpoint::workers, "status"},
    Row{Method::get, "/api/v1/agents/containment-status", Endpoint::control, "agents"},
    Row{Method::get, "/api/v1/agents/events", Endpoint::worker_events},
    Row{Method::get, "/api/v1/agents/{}", Endpoint::workers, "one"},
    Row{Method::post, "/api/v1/agents/{}/stop", Endpoint::workers, "stop"},
};

constexpr std::size_t most_name_bytes = 64;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= most_name_bytes &&
         std::all_of(text.begin(), text.end(), [](char byte) {
           const char lower = to_lower(byte);
           return is_digit(byte) || (lower >= 'a' && lower <= 'z') || byte == '-' || byte == '_';
         });
}

// The name in the path; "" for a path without one; nullopt: another path.
std::optional<std::string_view> match(std::string_view pattern, std::string_view path) {
  const auto hole = pattern.find("{}");
  if (hole == std::string_view::npos) {
    return pattern == path ? std::optional{std::string_view{}} : std::nullopt;
  }
  const auto before = pattern.substr(0, hole), after = pattern.substr(hole + 2);
  if (path.size() < before.size() + after.size() || !path.starts_with(before) ||
      !path.ends_with(after)) {
    return std::nullopt;
  }
  const auto name = path.substr(before.size(), path.size() - before.size() - after.size());
  return is_name(name) ? std::optional{name} : std::nullopt;
}

// "/agents/ID/rest", for programs that speak A2A.
constexpr std::string_view a2a_prefix = "/agents/";

Route a2a_route(std::string_view path) {
  Route route;
  path.remove_prefix(a2a_prefix.size());
  const auto end = path.find('/');
  if (end == std::string_view::npos || !is_name(path.substr(0, end))) return route;
  route.endpoint = Endpoint::a2a;
  route.name = path.substr(0, end);
  route.rest = path.substr(end);
  return route;
}

}  // namespace

Route find_route(Method method, std::string_view path) {
  Route route;
  if (find_asset(path) != nullptr) {
    route.endpoint = method == Method::get ? Endpoint::asset : Endpoint::other_method;
    return route;
  }
  if (path.starts_with(a2a_prefix)) return a2a_route(path);
  for (const Row& row : rows) {
    const auto name = match(row.path, path);
    if (!name) continue;
    route.endpoint = Endpoint::other_method;
    if (row.method == method) return {row.endpoint, row.action, row.field, std::string{*name}, {}};
  }
  return route;
}

}  // namespace stile::web
