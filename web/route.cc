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

}  // namespace

Route find_route(Method method, std::string_view path) {
  Route route;
  if (find_asset(path) != nullptr) {
    route.endpoint = method == Method::get ? Endpoint::asset : Endpoint::other_method;
    return route;
  }
  for (const Row& row : rows) {
    const auto name = match(row.path, path);
    if (!name) continue;
    route.endpoint = Endpoint::other_method;
    if (row.method == method) return {row.endpoint, row.action, row.field, std::string{*name}};
  }
  return route;
}

}  // namespace stile::web
