// kernel: explains why the kernel refuses namespaces.
#pragma once

#include <string>

#include "base/result.h"

namespace stile::run {

// For a step that needs a user namespace and its capabilities: "what: the error in words", and the
// setting that forbids it, if it can be found.
[[nodiscard]] Error refused_namespace(const std::string& what, int code);

}  // namespace stile::run
