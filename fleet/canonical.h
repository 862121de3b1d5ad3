// canonical: the one text of a JSON document that is signed. Two documents that mean the same have
// the same text.
#pragma once

#include <string>

#include "base/result.h"
#include "config/node.h"

namespace stile::fleet {

// Members sorted by key, no white space, only what control bytes need is escaped. A time becomes
// RFC 3339 text. Numbers with a fraction and null are refused: they have more than one text.
[[nodiscard]] Result<std::string> canonical_text(const config::Node& node);

}  // namespace stile::fleet
