// card_file: the text of a card that is named on the command line; `-` is standard input.
#pragma once

#include <string>

#include "cli/control_client.h"

namespace stile::cli {

// Fails if it cannot be read, or is not a JSON object.
[[nodiscard]] CommandOutcome<std::string> read_card(const std::string& path);

}  // namespace stile::cli
