// OpenFile: a descriptor that closes itself, what the kernel says about it, and its content.
#pragma once

#include <sys/stat.h>

#include <string>
#include <utility>

#include "acl/result.h"

namespace stile::config {

class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int fd) : fd_{fd} {}
  OpenFile(OpenFile&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  [[nodiscard]] Result<struct stat> status() const;

  // The whole content, read and not mapped: a file that somebody cuts short while it is mapped
  // would kill the daemon with SIGBUS.
  [[nodiscard]] Result<std::string> read_all(std::size_t max_bytes) const;

 private:
  int fd_ = -1;
};

}  // namespace stile::config
