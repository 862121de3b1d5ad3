// covers: empty files and directories that are mounted over paths to hide them.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::confine {

// In octal digits, as in mount options.
[[nodiscard]] std::string mode_text(mode_t mode);

class Covers {
 public:
  // `top`: a temporary mount point for the file system that covers are copied from.
  static Result<Covers> make(int top);

  // Read-only, and empty. `path` is for the message.
  [[nodiscard]] Result<void> cover(int place, const std::string& path, bool is_directory) const;
  // A read-only file with that text, over another one. Once per path.
  [[nodiscard]] Result<void> put_text(int place, const std::string& path,
                                      const std::string& text) const;

 private:
  explicit Covers(UniqueFd stage) : stage_{std::move(stage)} {}
  UniqueFd stage_;
};

}  // namespace stile::confine
