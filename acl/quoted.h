// quoted: text from elsewhere as it can stand in a message.
#pragma once

#include <string>
#include <string_view>

namespace stile::acl {

// In single quotes, at most 80 bytes of it, every byte outside of 0x20–0x7e as \xNN.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace stile::acl
