// Property: one setting of a transient unit of systemd, and those that limit a worker. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "config/launch.h"

namespace stile::units {

struct Exec {
  std::vector<std::string> words;  // the first is the absolute path of the program
  bool may_fail = false;
  friend bool operator==(const Exec&, const Exec&) = default;
};

struct Bytes {
  std::string bytes;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

using PropertyValue = std::variant<bool, std::uint64_t, std::string, std::vector<std::string>,
                                   std::vector<std::uint32_t>, std::vector<Exec>, Bytes>;

// Named as in systemd's D-Bus API, where some names and units differ from those of unit files.
struct Property {
  std::string name;
  PropertyValue value;
  friend bool operator==(const Property&, const Property&) = default;
};

struct Unit {
  std::string name;  // "stile-run-42.scope"
  std::vector<Property> properties;
};

// Memory, CPU and number of processes, for the unit's control group.
[[nodiscard]] std::vector<Property> group_limits(const config::ResourceLimits& limits);

}  // namespace stile::units
