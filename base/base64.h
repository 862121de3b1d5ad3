// Base64 (RFC 4648 section 4), with padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stile {

[[nodiscard]] std::string base64(std::string_view bytes);

// Line breaks are skipped, as in PEM. Nullopt: another character, or a wrong length.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace stile
