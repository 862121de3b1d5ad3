// adopt: gives the files of a workspace to its worker.
#include "netns/adopt.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/directory.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "confine/place.h"
#include "worker/agent_uids.h"

namespace stile::netns {
namespace {

constexpr int deepest = 64;

class Adoption {
 public:
  Adoption(uid_t caller, uid_t owner) : caller_{caller}, owner_{owner} {}

  // `file` is an O_PATH descriptor: what is checked is what is changed.
  [[nodiscard]] bool take(const UniqueFd& file, const struct stat& status, bool is_top) const {
    if (!may_take(status, is_top)) return false;
    return status.st_uid == owner_ ||
           ::fchownat(file.get(), "", owner_, owner_, AT_EMPTY_PATH) == 0;
  }

  void walk(const UniqueFd& directory, int depth) const {
    auto entries = DirectoryStream::of(directory.get());
    if (!entries || depth > deepest) return;
    while (const dirent* entry = entries.next()) {
      const UniqueFd file{
          ::openat(directory.get(), entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC)};
      struct stat status {};
      if (!file || ::fstat(file.get(), &status) != 0 || status.st_dev != device_) continue;
      if (take(file, status, false) && S_ISDIR(status.st_mode)) walk(file, depth + 1);
    }
  }

  Result<void> adopt(const std::string& path) {
    const auto top = confine::open_place(path);
    struct stat status {};
    if (!top || ::fstat(top.get(), &status) != 0) return system_error("workspace " + path);
    if (!S_ISDIR(status.st_mode)) return Error{"workspace " + path + " is not a directory"};
    device_ = status.st_dev;
    if (status.st_uid == 0 && caller_ != 0 && !confine::is_empty(top.get())) {
      return Error{"workspace " + path + " belongs to root and is not empty"};
    }
    if (!take(top, status, true)) {
      return Error{"workspace " + path + " belongs to user " + std::to_string(status.st_uid) +
                   ", not to the caller"};
    }
    walk(top, 0);
    return {};
  }

 private:
  // The spawner, as root, makes the workspace itself and nothing in it.
  [[nodiscard]] bool may_take(const struct stat& status, bool is_top) const {
    const bool is_single = S_ISDIR(status.st_mode) || status.st_nlink == 1;
    const bool is_known = status.st_uid == caller_ || worker::is_agent_uid(status.st_uid) ||
                          (is_top && status.st_uid == 0);
    return is_single && is_known;
  }

  uid_t caller_, owner_;
  dev_t device_ = 0;
};

}  // namespace

Result<void> adopt_workspace(const std::string& path, uid_t caller, uid_t owner) {
  return Adoption{caller, owner}.adopt(path);
}

Result<void> make_missing(const std::string& workspace, const std::string& path, uid_t owner) {
  const auto top = confine::open_place(workspace);
  if (!top) return system_error("workspace " + workspace);
  for (auto end = workspace.size(); end != std::string::npos;) {
    end = path.find('/', end + 1);
    const auto part = path.substr(0, end);
    if (confine::open_place(part)) continue;
    if (errno != ENOENT) return system_error(part);
    const auto made = confine::make_place(top.get(), part.substr(workspace.size()), true);
    struct stat status {};
    if (!made || ::fstat(made.get(), &status) != 0) return system_error(part);
    // It could be another one, moved there meanwhile.
    if (status.st_uid == 0 && confine::is_empty(made.get()) &&
        ::fchownat(made.get(), "", owner, owner, AT_EMPTY_PATH) != 0) {
      return system_error(part);
    }
  }
  return {};
}

}  // namespace stile::netns
