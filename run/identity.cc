// identity: the user that the command runs as.
#include "run/identity.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/system_error.h"
#include "base/unique_fd.h"

namespace stile::run {
namespace {

constexpr uid_t nobody = 65534;

Result<void> write_once(const std::string& path, const std::string& text) {
  const UniqueFd file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  // The kernel accepts a map only as a single write.
  if (!file || ::write(file.get(), text.data(), text.size()) < 0) {
    return system_error("cannot write " + path);
  }
  return {};
}

bool has_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

Identity choose_identity(const std::string& directory) {
  Identity identity{::geteuid(), ::getegid(), false, {}, {}};
  if (identity.uid != 0) return identity;
  identity = {nobody, nobody, true, "nobody", "/tmp"};
  struct stat here {};
  if (::stat(directory.c_str(), &here) != 0 || here.st_uid == 0) return identity;
  identity.uid = here.st_uid;
  identity.name = std::to_string(here.st_uid);
  gid_t group = here.st_gid;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before the first thread
  if (const passwd* entry = ::getpwuid(here.st_uid)) {
    group = entry->pw_gid;
    identity.name = entry->pw_name;
    if (has_directory(entry->pw_dir)) identity.home = entry->pw_dir;
  }
  if (group != 0) identity.gid = group;
  return identity;
}

Result<void> map_ids(pid_t child, const Identity& identity) {
  const auto process = "/proc/" + std::to_string(child) + '/';
  const auto same = [](auto id) { return std::to_string(id) + ' ' + std::to_string(id) + " 1\n"; };
  // The kernel requires this first without privilege: dropping a group could grant access to a
  // file.
  if (!identity.is_changed) {
    if (auto done = write_once(process + "setgroups", "deny"); !done) return done;
  }
  if (auto done = write_once(process + "gid_map", same(identity.gid)); !done) return done;
  return write_once(process + "uid_map", same(identity.uid));
}

Result<void> assume(const Identity& identity) {
  if (!identity.is_changed) return {};
  if (::setgroups(0, nullptr) != 0 || ::setresgid(identity.gid, identity.gid, identity.gid) != 0 ||
      ::setresuid(identity.uid, identity.uid, identity.uid) != 0) {
    return system_error("cannot become user " + std::to_string(identity.uid));
  }
  return {};
}

}  // namespace stile::run
