// StateFile: a text file in a directory, replaced atomically.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::control {

class StateFile {
 public:
  static constexpr std::size_t max_bytes = std::size_t{256} << 20;

  // Creates the directory if it is missing, and locks it for this process.
  static Result<StateFile> open(const std::string& directory);
  // The lock of another process is shared with it. An error if it is that of another directory.
  static Result<StateFile> inherit(const std::string& directory, UniqueFd lock);
  [[nodiscard]] int lock() const noexcept { return lock_.get(); }

  // nullopt: nothing was ever written. An unreadable file is an error.
  [[nodiscard]] Result<std::optional<std::string>> read() const;
  // When this returns, the new text is on disk under the file's name. Until then the old one is.
  [[nodiscard]] Result<void> replace(std::string_view text) const;
  [[nodiscard]] std::string path() const;
  // The same for what the fleet handed over, a file of its own: it can be large, and changes
  // rarely.
  [[nodiscard]] Result<std::optional<std::string>> read_fleet() const;
  [[nodiscard]] Result<void> replace_fleet(std::string_view text) const;

 private:
  static Result<StateFile> open_directory(const std::string& directory);
  [[nodiscard]] Error in_directory(const Error& error) const;

  std::string directory_;
  UniqueFd fd_;    // of the directory
  UniqueFd lock_;  // keeps other daemons out
};

}  // namespace stile::control
