// sysctl: settings that keep a device of the fence shut if the table is lost.
#include "netns/sysctl.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/system_error.h"
#include "base/unique_fd.h"

namespace stile::netns {
namespace {

constexpr std::array<DeviceSysctl, 11> shut{{
    {"ipv6", "disable_ipv6", "1"},  // so that the fence handles only IPv4
    {"ipv6", "forwarding", "0"},
    {"ipv4", "forwarding", "0"},     // packets that arrive here are not forwarded
    {"ipv4", "bc_forwarding", "0"},  // nor as a broadcast
    {"ipv4", "rp_filter", "1"},      // no source address of another device
    {"ipv4", "arp_ignore", "8"},     // no ARP answer for any address of the host
    {"ipv4", "proxy_arp", "0"},
    {"ipv4", "accept_source_route", "0"},
    {"ipv4", "accept_redirects", "0"},
    {"ipv4", "send_redirects", "0"},
    {"ipv4", "route_localnet", "0"},  // 127.0.0.1 is not reachable from outside
}};

constexpr std::array<DeviceSysctl, 1> inside{{{"ipv6", "disable_ipv6", "1"}}};

std::string path_of(const std::string& device, const DeviceSysctl& sysctl) {
  return "/proc/sys/net/" + std::string{sysctl.family} + "/conf/" + device + "/" +
         std::string{sysctl.name};
}

// IPv6 may be off, and old kernels have no bc_forwarding. A missing device is an error.
bool is_unknown_to_kernel(const DeviceSysctl& sysctl) {
  return ::access(path_of("all", sysctl).c_str(), F_OK) != 0;
}

}  // namespace

std::span<const DeviceSysctl> device_sysctls() noexcept { return shut; }
std::span<const DeviceSysctl> inside_sysctls() noexcept { return inside; }

Result<void> set_sysctl(const std::string& device, const DeviceSysctl& sysctl) {
  const auto path = path_of(device, sysctl);
  const UniqueFd fd{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  if (!fd && errno == ENOENT && is_unknown_to_kernel(sysctl)) return {};
  if (!fd || ::write(fd.get(), sysctl.value.data(), sysctl.value.size()) < 0) {
    return system_error("cannot set " + path);
  }
  return {};
}

Result<std::string> read_sysctl(const std::string& device, const DeviceSysctl& sysctl) {
  const auto path = path_of(device, sysctl);
  const UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd && errno == ENOENT && is_unknown_to_kernel(sysctl)) {
    return text_result(std::string{sysctl.value});
  }
  std::array<char, 32> buffer{};
  const auto got = fd ? ::read(fd.get(), buffer.data(), buffer.size()) : -1;
  if (got < 0) return system_error("cannot read " + path);
  std::string text{buffer.data(), static_cast<std::size_t>(got)};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text_result(std::move(text));
}

Result<void> shut_device(const std::string& device) {
  for (const auto& sysctl : shut) {
    if (auto done = set_sysctl(device, sysctl); !done) return done;
  }
  return {};
}

Result<std::string> first_open_sysctl(const std::string& device) {
  for (const auto& sysctl : shut) {
    const auto found = read_sysctl(device, sysctl);
    if (!found) return found.error();
    if (*found != sysctl.value) {
      return text_result("net." + std::string{sysctl.family} + ".conf." + device + "." +
                         std::string{sysctl.name} + " is " + *found + ", not " +
                         std::string{sysctl.value});
    }
  }
  return text_result({});
}

}  // namespace stile::netns
