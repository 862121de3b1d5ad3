// PidFile: marks the running copy with a lock that only that process can hold.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::squid {

class PidFile {
 public:
  // Writes this process's id and locks the file until the process ends. An error if another copy
  // holds the lock. An empty path makes no file.
  static Result<PidFile> create(const std::string& path);
  PidFile(PidFile&& other) noexcept = default;
  PidFile& operator=(PidFile&&) = delete;
  // Empties the file, and removes it if that is still permitted after privileges were dropped.
  ~PidFile();

 private:
  PidFile(std::string path, UniqueFd fd) : path_{std::move(path)}, fd_{std::move(fd)} {}
  std::string path_;
  UniqueFd fd_;
};

}  // namespace stile::squid
