// place: opens and creates paths of a file tree without following links.
#include "confine/place.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/directory.h"
#include "base/quoted.h"

namespace stile::confine {

UniqueFd open_place(const std::string& path, int root) {
  if (root < 0) return open_resolved(AT_FDCWD, path, O_PATH, RESOLVE_NO_SYMLINKS);
  return open_resolved(root, path, O_PATH, RESOLVE_NO_SYMLINKS | RESOLVE_IN_ROOT);
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
  auto entries = DirectoryStream::of(directory);
  return entries && entries.next() == nullptr;
}

}  // namespace stile::confine
