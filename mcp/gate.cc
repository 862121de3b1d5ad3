// Gate: host, origin, token, in this order.
#include "mcp/gate.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/random.h"
#include "base/sha256.h"

namespace stile::mcp {
namespace {

constexpr std::size_t least_token_bytes = 16, most_token_bytes = 512;
constexpr std::size_t session_bytes = 16;

std::string_view bearer(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer ";
  if (!equal_ignoring_case(authorization.substr(0, scheme.size()), scheme)) return {};
  return authorization.substr(scheme.size());
}

}  // namespace

Gate::Gate(std::vector<web::Origin> own, std::string_view token)
    : own_{std::move(own)}, token_hash_{sha256_text(token)} {}

GateRefusal Gate::judge(const McpCredentials& given) const {
  // DNS rebinding: a page of a name that resolves to loopback sends that name.
  if (given.hosts.size() != 1 || !web::is_own_host(own_, given.hosts.front())) {
    return {403, "this server is not known under that name"};
  }
  if (given.origin && !web::is_own_origin(own_, given.hosts.front(), *given.origin)) {
    return {403, "a page of another origin sent this request"};
  }
  const auto token = bearer(given.authorization);
  if (token.empty() || !is_sha256_of(token, token_hash_)) {
    return {401, "the bearer token is missing or wrong"};
  }
  return {};
}

std::string token_problem(std::string_view token) {
  const auto is_visible = [](char c) { return c > ' ' && c < '\x7f'; };
  const bool fits = token.size() >= least_token_bytes && token.size() <= most_token_bytes &&
                    std::all_of(token.begin(), token.end(), is_visible);
  return fits ? "" : "a token has 16 to 512 visible ASCII characters";
}

std::string McpSessions::open(Handshake handshake) {
  if (sessions_.size() == max_sessions) sessions_.erase(sessions_.begin());
  sessions_.push_back({random_hex(session_bytes), std::move(handshake)});
  return sessions_.back().id;
}

Handshake* McpSessions::find(std::string_view id) {
  const auto found = std::find_if(sessions_.begin(), sessions_.end(),
                                  [&](const Session& one) { return one.id == id; });
  if (found == sessions_.end()) return nullptr;
  std::rotate(found, found + 1, sessions_.end());
  return &sessions_.back().handshake;
}

bool McpSessions::close(std::string_view id) {
  return std::erase_if(sessions_, [&](const Session& one) { return one.id == id; }) > 0;
}

}  // namespace stile::mcp
