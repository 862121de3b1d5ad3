// OpenFile: a file descriptor that closes itself, its status, and its content.
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

  // Reads the whole content. It does not map the file: truncating a mapped file would kill the
  // daemon with SIGBUS.
  [[nodiscard]] Result<std::string> read_all(std::size_t max_bytes) const;

 private:
  int fd_ = -1;
};

}  // namespace stile::config
