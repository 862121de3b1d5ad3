// Route: the table of endpoints.
#include "web/route.h"

#include <array>
#include <optional>

#include "base/ascii.h"
#include "web/assets.h"

namespace stile::web {
namespace {

struct Row {
  WebMethod method;
  std::string_view path;  // {} is one name
  WebEndpoint endpoint;
  std::string_view action{}, field{};
};

constexpr std::array rows{
    Row{WebMethod::post, "/api/v1/login", WebEndpoint::login},
    Row{WebMethod::post, "/api/v1/logout", WebEndpoint::logout},
    Row{WebMethod::get, "/api/v1/events", WebEndpoint::events},
    Row{WebMethod::get, "/api/v1/hosts", WebEndpoint::hosts},
    Row{WebMethod::get, "/api/v1/status", WebEndpoint::control, "status"},
    Row{WebMethod::get, "/api/v1/connections", WebEndpoint::control, "connections"},
    Row{WebMethod::get, "/api/v1/policy", WebEndpoint::control, "agents"},
    Row{WebMethod::get, "/api/v1/policy/{}", WebEndpoint::control, "agent", "agent"},
    Row{WebMethod::post, "/api/v1/policy/{}/allow", WebEndpoint::control, "allow", "agent"},
    Row{WebMethod::post, "/api/v1/policy/{}/revoke", WebEndpoint::control, "revoke", "agent"},
    Row{WebMethod::post, "/api/v1/policy/{}/mode", WebEndpoint::control, "mode", "agent"},
    Row{WebMethod::post, "/api/v1/policy/{}/budget-reset", WebEndpoint::control, "budget-reset",
        "agent"},
    Row{WebMethod::post, "/api/v1/policy/{}/explain", WebEndpoint::control, "explain", "agent"},
    Row{WebMethod::post, "/api/v1/mode", WebEndpoint::control, "mode"},
    Row{WebMethod::get, "/api/v1/asks", WebEndpoint::control, "asks"},
    Row{WebMethod::post, "/api/v1/asks/{}/answer", WebEndpoint::control, "answer", "ask"},
    Row{WebMethod::get, "/api/v1/config", WebEndpoint::control, "config"},
    Row{WebMethod::post, "/api/v1/config/check", WebEndpoint::check},
    Row{WebMethod::post, "/api/v1/agents/spawn", WebEndpoint::workers, "spawn"},
    Row{WebMethod::get, "/api/v1/agents/active", WebEndpoint::workers, "active"},
    Row{WebMethod::post, "/api/v1/agents/stop-all", WebEndpoint::workers, "stop-all"},
    Row{WebMethod::get, "/api/v1/agents/status", WebEndpoint::workers, "status"},
    Row{WebMethod::get, "/api/v1/agents/containment-status", WebEndpoint::control, "agents"},
    Row{WebMethod::get, "/api/v1/agents/events", WebEndpoint::worker_events},
    Row{WebMethod::get, "/api/v1/agents/{}", WebEndpoint::workers, "one"},
    Row{WebMethod::post, "/api/v1/agents/{}/stop", WebEndpoint::workers, "stop"},
};

constexpr std::size_t most_name_bytes = 64;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= most_name_bytes && has_only(text, "-_");
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
  route.endpoint = WebEndpoint::a2a;
  route.name = path.substr(0, end);
  route.rest = path.substr(end);
  return route;
}

}  // namespace

Route find_route(WebMethod method, std::string_view path) {
  Route route;
  if (find_asset(path) != nullptr) {
    route.endpoint = method == WebMethod::get ? WebEndpoint::asset : WebEndpoint::other_method;
    return route;
  }
  if (path.starts_with(a2a_prefix)) return a2a_route(path);
  for (const Row& row : rows) {
    const auto name = match(row.path, path);
    if (!name) continue;
    route.endpoint = WebEndpoint::other_method;
    if (row.method == method) return {row.endpoint, row.action, row.field, std::string{*name}, {}};
  }
  return route;
}

}  // namespace stile::web
