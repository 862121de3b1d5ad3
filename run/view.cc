// view: the file system as the command sees it.
#include "run/view.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "netns/files.h"
#include "netns/paths.h"
#include "proxy/base/unique_fd.h"
#include "run/kernel.h"

namespace stile::run {
namespace {

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

// What cannot be looked up now cannot be by the command, which may do less.
bool is_out_of_reach(int code) { return code == ENOENT || code == ENOTDIR || code == EACCES; }

Result<Kept> keep(const std::string& path) {
  struct stat status {};
  UniqueFd tree{
      ::open_tree(AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)};
  if (!tree || ::fstat(tree.get(), &status) != 0)
    return netns::system_error("cannot expose " + path);
  return Kept{path, std::move(tree), S_ISDIR(status.st_mode)};
}

Result<void> put_back(const Kept& kept) {
  std::error_code failed;
  const std::filesystem::path path{kept.path};
  std::filesystem::create_directories(kept.is_directory ? path : path.parent_path(), failed);
  if (!kept.is_directory) {
    const UniqueFd file{
        ::open(kept.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
  }
  if (::move_mount(kept.tree.get(), "", AT_FDCWD, kept.path.c_str(), MOVE_MOUNT_F_EMPTY_PATH) !=
      0) {
    return netns::system_error("cannot expose " + kept.path);
  }
  return {};
}

Result<void> hide_directory(const HiddenDirectory& directory, const Identity& identity) {
  struct stat status {};
  if (::stat(directory.path.c_str(), &status) != 0) {
    return is_out_of_reach(errno) ? Result<void>{}
                                  : netns::system_error("cannot hide " + directory.path);
  }
  std::array<char, 64> options{};
  std::snprintf(options.data(), options.size(), "mode=%o,uid=%u,gid=%u", directory.mode,
                identity.uid, identity.gid);
  if (::mount("tmpfs", directory.path.c_str(), "tmpfs", harmless, options.data()) != 0) {
    return refused_namespace("cannot hide " + directory.path, errno);
  }
  return {};
}

Result<void> hide_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return is_out_of_reach(errno) ? Result<void>{} : netns::system_error("cannot hide " + path);
  }
  if (::mount("/dev/null", path.c_str(), nullptr, MS_BIND, nullptr) != 0) {
    return refused_namespace("cannot hide " + path, errno);
  }
  return {};
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

// Only what a hidden directory would cover has to be put back.
bool is_covered(const std::string& path, const Hidden& hidden) {
  return std::any_of(hidden.directories.begin(), hidden.directories.end(),
                     [&](const auto& directory) { return netns::is_within(path, directory.path); });
}

}  // namespace

Result<bool> mount_view(const Hidden& hidden, const Identity& identity) {
  // Private: what the host mounts from now on does not show up inside.
  if (::mount(nullptr, "/", nullptr, MS_PRIVATE | MS_REC, nullptr) != 0) {
    return refused_namespace("cannot change mounts", errno);
  }
  std::vector<Kept> exposed;
  for (const auto& path : hidden.exposed) {
    if (!is_covered(path, hidden)) continue;
    auto kept = keep(path);
    if (!kept) return kept.error();
    exposed.push_back(std::move(*kept));
  }
  const auto links = read_links();
  const bool has_own_proc = ::mount("proc", "/proc", "proc", harmless | MS_NOEXEC, nullptr) == 0;
  if (!has_own_proc && errno != EPERM) return netns::system_error("cannot mount /proc");
  for (const auto& directory : hidden.directories) {
    if (auto done = hide_directory(directory, identity); !done) return done.error();
  }
  for (const auto& [path, target] : links) {
    // Not hidden after all, or exposed: it is still there.
    if (::symlink(target.c_str(), path.c_str()) != 0 && errno != EEXIST && errno != EACCES) {
      return netns::system_error("cannot make " + path);
    }
  }
  for (const auto& kept : exposed) {
    if (auto done = put_back(kept); !done) return done.error();
  }
  for (const auto& path : hidden.files) {
    if (auto done = hide_file(path); !done) return done.error();
  }
  return has_own_proc;
}

}  // namespace stile::run
