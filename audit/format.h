// Format: the two formats of an audit log, and the limits of both.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stile::audit {

enum class Format : std::uint8_t { json, squid };

// The limit of each field that an agent sent, in bytes before escaping.
inline constexpr std::size_t max_field_bytes = 1024;

// The longest line: 14 text fields of max_field_bytes, each byte escaped to six, and the rest.
inline constexpr std::size_t max_line_bytes = 128 * 1024;

}  // namespace stile::audit
