// failure: an Error that ends with the operating system's error text.
#pragma once

#include <cerrno>
#include <string>

#include "acl/error_text.h"
#include "acl/result.h"

namespace stile::confine {

// "what: the error in words".
[[nodiscard]] inline Error failure(const std::string& what, int code = errno) {
  return Error{what + ": " + error_text(code)};
}

}  // namespace stile::confine
