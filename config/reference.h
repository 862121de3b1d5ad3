// reference: generates docs/configuration.md from the schema.
#pragma once

#include <string>

namespace stile::config {

[[nodiscard]] std::string reference();

}  // namespace stile::config
