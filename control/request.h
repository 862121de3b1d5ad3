// ControlRequest: one checked line of the control protocol. It is either understood completely or
// refused.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acl/address.h"
#include "acl/pattern.h"
#include "acl/policy.h"
#include "control/protocol.h"

namespace stile::control {

class Connection;
class Service;
struct ControlRequest;

// One action of the protocol: its fields, and the function that serves it. The service has the
// table of all of them.
struct Action {
  using Names = std::vector<std::string_view>;
  enum class Access : std::uint8_t {
    reads,  // also on the read-only socket
    changes,
  };
  enum class Place : std::uint8_t {
    anywhere,  // also in a `stile run`
    daemon,
  };

  std::string_view name;
  Access access = Access::changes;
  Place place = Place::daemon;
  Names required, optional;
  Names one_of;  // exactly one of these two
  void (*serve)(Service&, const ControlRequest&, const std::shared_ptr<Connection>&) = nullptr;
  // A rule about several fields; null: none.
  Outcome<void> (*check)(const ControlRequest&) = nullptr;
};
using Actions = std::vector<Action>;

struct ControlRequest {
  static constexpr std::size_t max_hosts = 1000;
  // They are compiled while other operators wait: at worst a few milliseconds each.
  static constexpr std::size_t max_regexes = 100;
  static constexpr std::size_t max_reason_bytes = 256;
  // Long enough for any use, and small enough that adding it to the current time does not overflow.
  static constexpr std::int64_t max_ttl_seconds = 100LL * 366 * 86'400;

  const Action* action = nullptr;
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
  std::string ask;  // the id of one
  bool follow = false;
  std::optional<bool> connected;  // of stile-fleet to its store
  bool memory = false;            // the objects of the fleet, too
  bool is_trial = false;          // compile it, and apply nothing
  bool holds = false;             // a check of the agent's fence found nothing wrong
};

// An unknown field is an error that names the nearest known field of the action.
[[nodiscard]] Outcome<ControlRequest> parse_request(std::string_view line, const Actions& actions);

}  // namespace stile::control
