// FleetLayer: the policies of a fleet of hosts, laid below the files of this host. stile-fleet
// verifies them and hands them over; nothing here knows of signatures or of a store.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unix_time.h"
#include "config/diagnostics.h"

namespace stile::config {

inline constexpr std::size_t max_fleet_bytes = std::size_t{32} << 20U;

struct FleetPolicy {
  std::string name;
  std::uint64_t serial = 0;
  UnixMicros not_after = 0;  // its agents expire then; what it forbids stays until it is replaced
  std::string body;          // [egress], [[agent]], [[secret]] and [[grant]] as JSON
  // The name in messages and audit lines.
  [[nodiscard]] std::string file() const { return "fleet:" + name; }
  friend bool operator==(const FleetPolicy&, const FleetPolicy&) = default;
};

// This host's share of the `bytes_up` of an agent in a policy, which is one budget for all hosts.
struct FleetSlice {
  std::uint64_t bytes = 0;
  // All of a budget of this size is handed out: there is no next share unless it grows. 0: there
  // may be.
  std::uint64_t exhausted = 0;
  friend bool operator==(const FleetSlice&, const FleetSlice&) = default;
};

struct FleetLayer {
  std::vector<FleetPolicy> policies;         // in their order of precedence
  std::map<std::string, FleetSlice> slices;  // an agent that is not here has no share yet
  friend bool operator==(const FleetLayer&, const FleetLayer&) = default;
};

// One object that stile-fleet accepted. The daemon keeps them for it, with the policy that they
// led to, so that no crash can separate the two.
struct FleetObject {
  std::string name;  // "policy/base", "switch"
  std::uint64_t serial = 0;
  std::string envelope;  // empty: it is not for this host
  friend bool operator==(const FleetObject&, const FleetObject&) = default;
};

struct FleetRefusal {
  std::string name, reason;
  friend bool operator==(const FleetRefusal&, const FleetRefusal&) = default;
};

// What stile-fleet hands over, and what the state directory keeps.
struct FleetState {
  bool offline = false;  // the fleet's switch
  FleetLayer layer;
  std::vector<FleetObject> objects;
  std::vector<FleetRefusal> refused;
  friend bool operator==(const FleetState&, const FleetState&) = default;
};

[[nodiscard]] std::string fleet_text(const FleetState& state);
// Strict: an unknown key or a wrong type is an error.
[[nodiscard]] Result<FleetState> parse_fleet(std::string_view text);

// Lays the policies below the settings of this host's files. A key of [egress] or a secret that the
// files have stays; lists of what is forbidden are added; offline anywhere wins. The agents are
// kept for read_cards(), since cards of this host come before them.
void lay_under(Settings& settings, const FleetLayer& layer, Diagnostics& problems);

}  // namespace stile::config
