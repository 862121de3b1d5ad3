// directory: lists a directory, and opens what is below one without following links.
#pragma once

#include <dirent.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/free_by.h"
#include "base/unique_fd.h"

namespace stile {

// openat2(2), which the C library does not have. `resolve` has flags such as RESOLVE_BENEATH of
// linux/openat2.h; `mode` is that of a file that it creates.
[[nodiscard]] UniqueFd open_resolved(int directory, const std::string& path, int flags,
                                     std::uint64_t resolve, mode_t mode = 0) noexcept;

// The entries of a directory, each once.
class DirectoryStream {
 public:
  explicit DirectoryStream(UniqueFd directory) noexcept;
  // Of a directory that stays open, from its first entry; also of one that was opened with O_PATH.
  static DirectoryStream of(int directory) noexcept;

  // False: it cannot be read; see errno.
  explicit operator bool() const noexcept { return stream_ != nullptr; }
  // "." and ".." are left out. Null: there are no more, or errno is not 0.
  [[nodiscard]] const dirent* next() noexcept;
  [[nodiscard]] int fd() const noexcept { return ::dirfd(stream_.get()); }

 private:
  std::unique_ptr<DIR, FreeBy<::closedir>> stream_;
};

}  // namespace stile
