// Property: one setting of a transient unit of systemd.
#include "units/property.h"

namespace stile::units {
namespace {

constexpr std::uint64_t bytes_per_mb = 1U << 20U;
constexpr std::uint64_t micros_per_percent = 10'000;  // of one second of one processor

}  // namespace

std::vector<Property> group_limits(const config::ResourceLimits& limits) {
  std::vector<Property> properties;
  const auto add = [&](const char* name, std::uint64_t value) {
    properties.push_back({name, value});
  };
  if (limits.memory_mb) {
    add("MemoryMax", *limits.memory_mb * bytes_per_mb);
    add("MemorySwapMax", 0);  // or the limit would only move memory to the disk
  }
  if (limits.cpu_percent) add("CPUQuotaPerSecUSec", *limits.cpu_percent * micros_per_percent);
  if (limits.cpu_shares) add("CPUShares", *limits.cpu_shares);
  if (limits.max_processes) add("TasksMax", *limits.max_processes);
  return properties;
}

}  // namespace stile::units
