// keep: parts of the host's file system that are seen although what is around them is hidden.
#include "netns/keep.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "netns/files.h"

namespace stile::netns {
namespace {

UniqueFd open_place(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return UniqueFd{
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how))};
}

// Makes what is missing on the way to a place, and the place itself.
void make_place(const Kept& kept) {
  UniqueFd at{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  const std::filesystem::path path{kept.path};
  for (auto part = path.begin(); part != path.end(); ++part) {
    if (*part == "/") continue;
    if (!kept.is_directory && std::next(part) == path.end()) {
      const UniqueFd file{
          ::openat(at.get(), part->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
      return;
    }
    ::mkdirat(at.get(), part->c_str(), 0755);
    at = UniqueFd{::openat(at.get(), part->c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  }
}

}  // namespace

Result<void> refuse_links(const std::string& path, const std::string& what) {
  if (open_place(path) || errno != ELOOP) return {};
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  return Error{what + " " + path + ": a part of it is a link; name the place itself" +
               (failed ? "" : ", " + real.string())};
}

Result<Kept> keep(const std::string& path) {
  if (!path.starts_with('/')) return Error{"cannot expose " + path + ": not an absolute path"};
  if (auto refused = refuse_links(path, "cannot expose"); !refused) return refused.error();
  const auto place = open_place(path);
  if (!place) return system_error("cannot expose " + path);
  struct stat status {};
  UniqueFd tree{::open_tree(place.get(), "",
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH)};
  if (!tree || ::fstat(tree.get(), &status) != 0) {
    return system_error("cannot expose " + path);
  }
  return Kept{path, std::move(tree), S_ISDIR(status.st_mode)};
}

Result<void> put_back(const Kept& kept) {
  auto place = open_place(kept.path);
  if (!place) {
    make_place(kept);
    place = open_place(kept.path);
  }
  if (!place || ::move_mount(kept.tree.get(), "", place.get(), "",
                             MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0) {
    return system_error("cannot expose " + kept.path);
  }
  return {};
}

std::vector<SystemLink> system_links() {
  std::vector<SystemLink> links;
  for (const auto* path : {"/run/current-system", "/run/booted-system", "/run/opengl-driver"}) {
    std::error_code failed;
    const auto target = std::filesystem::read_symlink(path, failed);
    if (!failed) links.push_back({path, target.string()});
  }
  return links;
}

Result<void> put_back(const std::vector<SystemLink>& links) {
  for (const auto& [path, target] : links) {
    if (::symlink(target.c_str(), path.c_str()) != 0 && errno != EEXIST && errno != EACCES) {
      return system_error("cannot make " + path);
    }
  }
  return {};
}

}  // namespace stile::netns
