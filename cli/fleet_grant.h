// fleet_grant: `stile allow --fleet`, a grant for an agent on all hosts.
#pragma once

#include <string>
#include <vector>

namespace stile::cli {

struct FleetGrantOptions {
  std::string config, key;
  std::string agent, duration;  // duration: empty: as long as the object is valid
  std::vector<std::string> hosts;
  bool json = false;
};

// Adds it to the policy `grants` of the fleet. Returns the exit status.
[[nodiscard]] int grant_on_fleet(const FleetGrantOptions& options);

}  // namespace stile::cli
