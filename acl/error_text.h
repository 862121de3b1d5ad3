// The text of a system error number, for messages.
#pragma once

#include <string>
#include <system_error>

namespace stile {

// A thread-safe strerror(3).
[[nodiscard]] inline std::string error_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace stile
