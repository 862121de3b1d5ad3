// The text of an error number of the system, for people.
#pragma once

#include <string>
#include <system_error>

namespace stile {

// strerror(3) with a signature that cannot be used wrongly by two threads.
[[nodiscard]] inline std::string error_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace stile
