// kernel: why namespaces are refused.
#pragma once

#include <string>

#include "acl/result.h"

namespace stile::run {

// For a step that needs a user namespace and its capabilities: "what: the error in words", and the
// setting that forbids it, as far as that can be told.
[[nodiscard]] Error refused_namespace(const std::string& what, int code);

}  // namespace stile::run
