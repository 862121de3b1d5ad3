// fleet_check: what is wrong with a policy of a fleet, before it is signed.
#pragma once

#include "config/diagnostics.h"
#include "config/fleet_layer.h"

namespace stile::config {

// All errors that a host without files of its own would find.
[[nodiscard]] Diagnostics check_fleet_policy(const FleetPolicy& policy);

}  // namespace stile::config
