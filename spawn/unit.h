// unit: the transient unit of systemd that a worker runs as. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "config/launch.h"
#include "units/property.h"

namespace stile::spawn {

struct UnitFacts {
  std::string id, instance;
  std::string netns;              // path of stile-netns
  std::string card, worker_file;  // paths
  config::ResourceLimits limits;
  std::int64_t ttl_seconds = 0;  // 0: no limit
};

[[nodiscard]] std::string unit_name(std::string_view id);  // "sandboxed-agent@ID.service"
// The id in such a name; empty: it is another unit.
[[nodiscard]] std::string id_of_unit(std::string_view name);

// The namespace is created before the worker and removed after it, by systemd: whatever happens to
// the spawner or to the worker's processes.
[[nodiscard]] units::Unit worker_unit(const UnitFacts& facts);

// Removes what is left of a worker whose unit no longer exists.
[[nodiscard]] units::Unit cleanup_unit(const UnitFacts& facts);

}  // namespace stile::spawn
