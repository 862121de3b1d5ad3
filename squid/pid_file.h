// PidFile: how `-k` finds the running copy.
#pragma once

#include <sys/types.h>

#include <string>

#include "acl/result.h"

namespace stile::squid {

class PidFile {
 public:
  // Writes this process's id. An error if the file names another process that runs. An empty path
  // makes no file.
  static Result<PidFile> create(const std::string& path);
  PidFile(PidFile&& other) noexcept;
  PidFile& operator=(PidFile&&) = delete;
  // Empties the file, and removes it if it still may: by then the right to do so may be given up.
  ~PidFile();

 private:
  PidFile(std::string path, int fd) : path_{std::move(path)}, fd_{fd} {}
  std::string path_;
  int fd_;
};

// The id of the running copy, or why there is none.
[[nodiscard]] Result<pid_t> running_copy(const std::string& path);

}  // namespace stile::squid
