// workspace: the directory of a worker.
#include "spawn/workspace.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/contains.h"
#include "base/directory.h"
#include "base/quoted.h"
#include "base/system_error.h"
#include "confine/paths.h"
#include "confine/place.h"
#include "worker/agent_uids.h"

namespace stile::spawn {
namespace {

namespace fs = std::filesystem;

constexpr mode_t workspace_mode = 0750;

std::string without_slashes(const std::string& path) {
  auto normal = path;
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

// Below the directory, and never out of it, over another file system or through a link.
UniqueFd open_beneath(int directory, const std::string& path) {
  return open_resolved(directory, path, O_RDONLY | O_DIRECTORY,
                       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

}  // namespace

bool is_allowed_workspace(const std::string& path, const std::vector<std::string>& allowed) {
  if (!path.starts_with('/') || path.find('\0') != std::string::npos) return false;
  const auto plain = without_slashes(path);
  if (fs::path{plain}.lexically_normal().string() != plain) return false;
  const fs::path parts{plain};
  if (contains(parts, "..")) return false;
  return std::any_of(allowed.begin(), allowed.end(),
                     [&](const auto& directory) { return confine::is_within(plain, directory); });
}

Result<void> make_allowed(const std::vector<std::string>& allowed) {
  for (const auto& path : allowed) {
    const UniqueFd root{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!root || !confine::make_place(root.get(), path, true)) return system_error(path);
  }
  return {};
}

std::string workspace_of(const std::string& parent, const std::string& id) {
  return without_slashes(parent) + '/' + id;
}

bool is_shown_owner(std::uint32_t owner, std::uint32_t caller) noexcept {
  return owner == caller || worker::is_agent_uid(owner);
}

Result<void> make_workspace(const std::string& parent, const std::string& id,
                            const std::vector<std::string>& allowed, std::uint32_t caller) {
  const auto plain = without_slashes(parent);
  const auto root_path = std::find_if(allowed.begin(), allowed.end(), [&](const auto& directory) {
    return confine::is_within(plain, directory);
  });
  if (root_path == allowed.end()) return Error{"Workspace not in allowed directories"};
  const auto root = confine::open_place(*root_path);
  if (!root) return system_error("Workspace " + *root_path);
  const auto rest = plain == *root_path ? "." : plain.substr(root_path->size() + 1);
  const auto directory = open_beneath(root.get(), rest);
  if (!directory) {
    return errno == ELOOP || errno == EXDEV
               ? Error{"Symlinks detected in workspace path " + printable(plain)}
               : system_error("Workspace " + printable(plain));
  }
  if (::mkdirat(directory.get(), id.c_str(), workspace_mode) != 0 && errno != EEXIST) {
    return system_error("Workspace " + printable(plain));
  }
  const auto made = open_beneath(directory.get(), id);
  if (!made) {
    return errno == ELOOP || errno == ENOTDIR
               ? Error{"Symlinks detected in workspace path " + printable(plain + '/' + id)}
               : system_error("Workspace " + printable(plain));
  }
  struct stat status {};
  if (::fstat(made.get(), &status) != 0) return system_error("Workspace " + printable(plain));
  const bool is_new = status.st_uid == 0 && confine::is_empty(made.get());
  if (!is_shown_owner(status.st_uid, caller) && !is_new) {
    return Error{"Workspace " + printable(plain + '/' + id) + " belongs to another user"};
  }
  return {};
}

Result<UniqueFd> open_workspace(const std::string& path) {
  const auto place = confine::open_place(path);
  UniqueFd directory{place ? ::openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1};
  if (!directory) return system_error("the workspace cannot be opened");
  return directory;
}

}  // namespace stile::spawn
