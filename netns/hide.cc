// hide: what of the host's file system a command of an agent sees.
#include "netns/hide.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "netns/fd.h"
#include "netns/files.h"

namespace stile::netns {
namespace {

constexpr mode_t for_all = 01777;
constexpr unsigned long harmless = MS_NOSUID | MS_NODEV;

// Links in /run without which a NixOS has no programs. They lead to where nobody can write.
constexpr std::array<const char*, 3> kept_links{"/run/current-system", "/run/booted-system",
                                                "/run/opengl-driver"};

// A part of the old view that goes to the same place in the new one.
struct Kept {
  std::string path;
  UniqueFd tree;
  bool is_directory = true;
};

// Links are not followed, here and in put_back(): the agent may be able to write on the way there,
// and would choose what it is shown, or have root make directories for it.
UniqueFd open_place(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return UniqueFd{
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how))};
}

Result<Kept> keep(const std::string& path) {
  if (!path.starts_with('/')) return Error{"cannot expose " + path + ": not an absolute path"};
  const auto place = open_place(path);
  if (!place.is_open() && errno == ELOOP) {
    return Error{"cannot expose " + path + ": a part of it is a link; name the place itself"};
  }
  struct stat status {};
  UniqueFd tree{::open_tree(place.get(), "",
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH)};
  if (!tree.is_open() || ::fstat(tree.get(), &status) != 0) {
    return system_error("cannot expose " + path);
  }
  return Kept{path, std::move(tree), S_ISDIR(status.st_mode)};
}

// Makes what is missing on the way to a place, and the place itself.
void make_place(const Kept& kept) {
  UniqueFd at{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  const std::filesystem::path path{kept.path};
  for (const auto& part : path.relative_path()) {
    const bool is_last_file = !kept.is_directory && part == path.filename();
    if (is_last_file) {
      const UniqueFd file{
          ::openat(at.get(), part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
      return;
    }
    ::mkdirat(at.get(), part.c_str(), 0755);
    at = UniqueFd{::openat(at.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  }
}

Result<void> put_back(const Kept& kept) {
  auto place = open_place(kept.path);
  if (!place.is_open()) {
    make_place(kept);
    place = open_place(kept.path);
  }
  if (!place.is_open() || ::move_mount(kept.tree.get(), "", place.get(), "",
                                       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0) {
    return system_error("cannot expose " + kept.path);
  }
  return {};
}

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

std::vector<std::pair<std::string, std::string>> read_links() {
  std::vector<std::pair<std::string, std::string>> links;
  for (const auto* path : kept_links) {
    std::error_code failed;
    const auto target = std::filesystem::read_symlink(path, failed);
    if (!failed) links.emplace_back(path, target.string());
  }
  return links;
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
  return {
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
      // A virtual machine of the agent's making could speak to the host through these.
      {"/dev/vsock", 0},
      {"/dev/vhost-vsock", 0},
      {"/dev/vhost-net", 0},
  };
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
  const auto links = read_links();
  if (auto done = mount_kernel_views(); !done) return done;
  std::set<std::string> done_already;  // /var/run is /run by another name
  for (const auto& hidden : view.hidden) {
    std::error_code failed;
    const auto real = std::filesystem::canonical(hidden.path, failed);
    if (failed || !done_already.insert(real.string()).second) continue;
    if (auto done = hide({real.string(), hidden.mode}, view.root_uid); !done) return done;
  }
  for (const auto& [path, target] : links) {
    if (::symlink(target.c_str(), path.c_str()) != 0) return system_error("cannot make " + path);
  }
  for (const auto& kept : exposed) {
    if (auto done = put_back(kept); !done) return done;
  }
  return {};
}

}  // namespace stile::netns
