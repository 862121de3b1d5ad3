// File: the open file (or pipe, or terminal) that log lines are appended to.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::audit {

class File {
 public:
  File() = default;  // not open: every write fails
  // follow: the directory belongs to the operator, who may keep logs on another disk. refuse: other
  // users can write to a directory of the path. Then no part of the path may be a symbolic link,
  // and a regular file may have only one name.
  enum class Links : bool { follow, refuse };
  // Locks a regular file, so that no other process writes to it (two writers would break the
  // chain).
  static Result<File> open(const std::string& path, Links links = Links::follow);
  // Like open, but the file must not exist yet.
  static Result<File> create(const std::string& path);
  static Result<File> standard_output();
  // The regular file of another process, which has it locked: the lock is shared with it. An error
  // if the path refers to another file.
  static Result<File> inherit(UniqueFd fd, const std::string& path);

  struct Written {
    std::size_t bytes = 0;  // fewer than requested: see `error`
    int error = 0;          // errno
  };
  // Regular files: one write(2) unless it is cut short. Waits for other files (a pipe without a
  // reader), but at most `patience` in total.
  Written write(std::string_view bytes, std::chrono::milliseconds patience);

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] bool is_regular() const noexcept { return is_regular_; }
  // Asks the kernel: another process may have truncated the file (logrotate's copytruncate).
  [[nodiscard]] std::uint64_t size() const noexcept;
  // Whether `path` still refers to this file. Also true if the path can no longer be accessed.
  [[nodiscard]] bool is_named(const std::string& path, Links links = Links::follow) const noexcept;

 private:
  File(UniqueFd fd, bool is_regular) noexcept : fd_{std::move(fd)}, is_regular_{is_regular} {}
  static Result<File> open_with(const std::string& path, int flags, Links links);
  UniqueFd fd_;
  bool is_regular_ = false;
};

}  // namespace stile::audit
