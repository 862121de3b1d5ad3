// Errors of the operating system in words.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "base/result.h"

namespace stile {

// A thread-safe strerror(3).
[[nodiscard]] inline std::string error_text(int code) {
  return std::generic_category().message(code);
}

// "what: the error in words".
[[nodiscard]] inline Error system_error(const std::string& what, int code = errno) {
  return Error{what + ": " + error_text(code)};
}

}  // namespace stile
