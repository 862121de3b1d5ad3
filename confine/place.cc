// place: opens and creates paths of a file tree without following links.
#include "confine/place.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "base/quoted.h"

namespace stile::confine {

UniqueFd open_place(const std::string& path, int root) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  if (root >= 0) how.resolve |= RESOLVE_IN_ROOT;
  return UniqueFd{static_cast<int>(
      ::syscall(SYS_openat2, root >= 0 ? root : AT_FDCWD, path.c_str(), &how, sizeof how))};
}

Result<void> refuse_links(const std::string& path, const std::string& what) {
  if (open_place(path) || errno != ELOOP) return {};
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  // Where it leads, an earlier command may have chosen.
  return Error{what + ' ' + printable(path) + ": a part of it is a link; name the place itself" +
               (failed ? "" : ", " + printable(real.string()))};
}

UniqueFd make_place(int root, const std::string& path, bool is_directory) {
  UniqueFd at{::openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  const auto parts = std::filesystem::path{path}.relative_path();
  for (auto part = parts.begin(); at && part != parts.end(); ++part) {
    const bool is_last = std::next(part) == parts.end();
    int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    if (is_last && !is_directory) {
      UniqueFd file{::openat(at.get(), part->c_str(), flags)};
      if (!file) {
        const UniqueFd made{
            ::openat(at.get(), part->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
        file = UniqueFd{::openat(at.get(), part->c_str(), flags)};
      }
      return file;
    }
    flags |= O_DIRECTORY;
    UniqueFd next{::openat(at.get(), part->c_str(), flags)};
    if (!next && errno == ENOENT && ::mkdirat(at.get(), part->c_str(), 0755) == 0) {
      next = UniqueFd{::openat(at.get(), part->c_str(), flags)};
    }
    at = std::move(next);
  }
  return at;
}

bool is_empty(int directory) {
  UniqueFd copy{::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  const std::unique_ptr<DIR, int (*)(DIR*)> list{copy ? ::fdopendir(copy.get()) : nullptr,
                                                 ::closedir};
  if (!list) return false;
  static_cast<void>(copy.release());  // the list owns it
  while (const dirent* entry = ::readdir(list.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return false;
  }
  return true;
}

}  // namespace stile::confine
