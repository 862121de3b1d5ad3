// sysctl: settings that keep a device of the fence shut if the table is lost.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stile::netns {

struct DeviceSysctl {
  std::string_view family;  // "ipv4" or "ipv6"
  std::string_view name;
  std::string_view value;
};

// For the host's end of each agent's pair.
[[nodiscard]] std::span<const DeviceSysctl> device_sysctls() noexcept;
// For the namespace itself; its root can change them back, which gives it no access.
[[nodiscard]] std::span<const DeviceSysctl> inside_sysctls() noexcept;

// Both use /proc/sys, which shows the network namespace of the calling thread. A kernel without
// IPv6 has no such files, and there is nothing to shut.
[[nodiscard]] Result<void> set_sysctl(const std::string& device, const DeviceSysctl& sysctl);
[[nodiscard]] Result<std::string> read_sysctl(const std::string& device,
                                              const DeviceSysctl& sysctl);

// All of device_sysctls() for one device; the check returns the first that differs, "" if none.
[[nodiscard]] Result<void> shut_device(const std::string& device);
[[nodiscard]] Result<std::string> first_open_sysctl(const std::string& device);

}  // namespace stile::netns
