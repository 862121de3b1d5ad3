// StateFile: a text in a directory that is replaced as a whole or not at all, whatever happens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "acl/result.h"
#include "proxy/base/unique_fd.h"

namespace stile::control {

class StateFile {
 public:
  static constexpr std::size_t max_bytes = std::size_t{256} << 20;

  // Makes the directory if it is missing, and holds it for this process alone.
  static Result<StateFile> open(const std::string& directory);

  // Nothing was ever written: nullopt. A file that cannot be read is an error, not nothing.
  [[nodiscard]] Result<std::optional<std::string>> read() const;
  // When this returns, the text is on disk under the file's name. Until then the old one is.
  [[nodiscard]] Result<void> replace(std::string_view text) const;
  [[nodiscard]] std::string path() const;

 private:
  std::string directory_;
  UniqueFd fd_;    // of the directory
  UniqueFd lock_;  // keeps other daemons out
};

}  // namespace stile::control
