// quoted: untrusted text in a form that is safe in a message.
#pragma once

#include <string>
#include <string_view>

namespace stile::acl {

// In single quotes, cut to 80 bytes, every byte outside of 0x20–0x7e as \xNN.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace stile::acl
