// hide: what of the host's file system a command of an agent sees.
#include "netns/hide.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "netns/files.h"
#include "netns/keep.h"

namespace stile::netns {
namespace {

constexpr mode_t for_all = 01777;
constexpr unsigned long harmless = MS_NOSUID | MS_NODEV;

Result<void> mount_here(const char* type, const std::string& path, unsigned long flags,
                        const std::string& options = {}) {
  if (::mount(type, path.c_str(), type, flags, options.c_str()) != 0) {
    return system_error("cannot mount " + std::string{type} + " on " + path);
  }
  return {};
}

Result<void> hide(const Hidden& hidden, std::uint32_t uid) {
  struct stat status {};
  if (::stat(hidden.path.c_str(), &status) != 0) return system_error("cannot hide " + hidden.path);
  if (!S_ISDIR(status.st_mode)) {
    if (::mount("/dev/null", hidden.path.c_str(), nullptr, MS_BIND, nullptr) != 0) {
      return system_error("cannot hide " + hidden.path);
    }
    return {};
  }
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%o", hidden.mode);
  const auto id = std::to_string(uid);
  return mount_here("tmpfs", hidden.path, harmless,
                    "mode=" + std::string{mode.data()} + ",uid=" + id + ",gid=" + id);
}

// Both show the namespaces of the process that mounts them.
Result<void> mount_kernel_views() {
  constexpr auto control_groups = "/sys/fs/cgroup";  // where programs look for their limits
  auto groups = keep(control_groups);
  if (auto done = mount_here("proc", "/proc", harmless | MS_NOEXEC); !done) return done;
  if (auto done = mount_here("sysfs", "/sys", harmless | MS_NOEXEC | MS_RDONLY); !done) return done;
  if (groups) return put_back(*groups);
  return {};
}

}  // namespace

std::vector<Hidden> usually_hidden() {
  std::vector<Hidden> list{
      {"/run", 0755},
      {"/var/run", 0755},
      {"/tmp", for_all},
      {"/var/tmp", for_all},
      {"/dev/shm", for_all},
      {"/dev/mqueue", for_all},
      {"/root", 0700},
      {"/etc/stile", 0755},
      {"/var/lib/stile", 0755},
      {"/var/log/stile", 0755},
      {"/nix/var/nix/daemon-socket", 0755},
  };
  for (const auto* device : machine_devices) list.push_back({device, 0});
  return list;
}

Result<void> mount_view(const View& view) {
  // Slave: what the host unmounts goes away here, too, or a deleted namespace would live on.
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_SLAVE | MS_REC, nullptr) != 0) {
    return system_error("cannot make a mount namespace");
  }
  std::vector<Kept> exposed;
  for (const auto& path : view.exposed) {
    auto kept = keep(path);
    if (!kept) return kept.error();
    exposed.push_back(std::move(*kept));
  }
  const auto links = system_links();
  if (auto done = mount_kernel_views(); !done) return done;
  std::set<std::string> done_already;  // /var/run is /run by another name
  for (const auto& hidden : view.hidden) {
    std::error_code failed;
    const auto real = std::filesystem::canonical(hidden.path, failed);
    if (failed || !done_already.insert(real.string()).second) continue;
    if (auto done = hide({real.string(), hidden.mode}, view.root_uid); !done) return done;
  }
  if (auto done = put_back(links); !done) return done;
  for (const auto& kept : exposed) {
    if (auto done = put_back(kept); !done) return done;
  }
  return {};
}

}  // namespace stile::netns
