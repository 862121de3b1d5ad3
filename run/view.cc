// view: the file system as the command sees it.
#include "run/view.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "netns/files.h"
#include "netns/keep.h"
#include "netns/paths.h"
#include "run/kernel.h"

namespace stile::run {
namespace {

constexpr unsigned long harmless = MS_NOSUID | MS_NODEV;

// What cannot be looked up now cannot be by the command, which may do less.
bool is_out_of_reach(int code) { return code == ENOENT || code == ENOTDIR || code == EACCES; }

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
  std::vector<netns::Kept> exposed;
  for (const auto& path : hidden.exposed) {
    if (!is_covered(path, hidden)) continue;
    auto kept = netns::keep(path);
    if (!kept) return kept.error();
    exposed.push_back(std::move(*kept));
  }
  const auto links = netns::system_links();
  const bool has_own_proc = ::mount("proc", "/proc", "proc", harmless | MS_NOEXEC, nullptr) == 0;
  if (!has_own_proc && errno != EPERM) return netns::system_error("cannot mount /proc");
  for (const auto& directory : hidden.directories) {
    if (auto done = hide_directory(directory, identity); !done) return done.error();
  }
  if (auto done = netns::put_back(links); !done) return done.error();
  for (const auto& kept : exposed) {
    if (auto done = netns::put_back(kept); !done) return done.error();
  }
  for (const auto& path : hidden.files) {
    if (auto done = hide_file(path); !done) return done.error();
  }
  return has_own_proc;
}

}  // namespace stile::run
