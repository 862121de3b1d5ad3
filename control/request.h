// Request: one checked line of the control protocol. It is either understood completely or refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acl/address.h"
#include "acl/pattern.h"
#include "acl/policy.h"
#include "control/protocol.h"

namespace stile::control {

enum class Action : std::uint8_t {
  ping,
  status,
  agents,
  agent,
  put_agent,
  remove_agent,
  allow,
  revoke,
  mode,
  budget_reset,
  reload,
  rotate,
  drain,
  explain,
  tail,
  log,
  config,
  connections,
  adopt_listener,
};
[[nodiscard]] std::string_view text(Action action) noexcept;
// Whether the read-only socket accepts it.
[[nodiscard]] bool only_looks(Action action) noexcept;

struct Request {
  static constexpr std::size_t max_hosts = 1000;
  // They are compiled while other operators wait: at worst a few milliseconds each.
  static constexpr std::size_t max_regexes = 100;
  static constexpr std::size_t max_reason_bytes = 256;
  // Long enough for any use, and small enough that adding it to the current time does not overflow.
  static constexpr std::int64_t max_ttl_seconds = 100LL * 366 * 86'400;

  Action action = Action::ping;
  std::string agent;
  std::string card;  // as JSON text
  std::vector<acl::Pattern> hosts;
  std::optional<std::int64_t> ttl_seconds;
  std::optional<std::uint64_t> max_requests, bytes_up;
  std::string reason;
  std::string grant;
  acl::Mode mode = acl::Mode::enforce;
  std::optional<acl::Address> source;
  std::string url, host, port, method;  // as written: explaining them is the point
  bool resolve = false;
  std::string verdict;
  bool rotated = false, on_disk = false;
};

// An unknown field is an error that names the nearest known field of the action.
[[nodiscard]] Outcome<Request> parse_request(std::string_view line);

}  // namespace stile::control
