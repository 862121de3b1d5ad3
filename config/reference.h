// reference: docs/configuration.md, made from the schema.
#pragma once

#include <string>

namespace stile::config {

[[nodiscard]] std::string reference();

}  // namespace stile::config
