// json_text: documents back to JSON, for cards and for --json.
#pragma once

#include <string>
#include <string_view>

#include "config/node.h"

namespace stile::netns {

// In quotes, with everything escaped that JSON or a terminal would trip over. Bytes from 0x80 on
// stay as they are: what was UTF-8 is UTF-8 again.
[[nodiscard]] std::string json_text(std::string_view text);
// One line. What a JSON document cannot have had (a TOML time) becomes null.
[[nodiscard]] std::string json_text(const config::Node& node);

}  // namespace stile::netns
