// Format: the two spellings of an audit log, and the bounds that both keep.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stile::audit {

enum class Format : std::uint8_t { json, squid };

// Of what an agent sent, no field takes more than this many bytes (before escaping).
inline constexpr std::size_t max_field_bytes = 1024;

// No line is longer: 14 text fields of max_field_bytes, each byte escaped to six, and the rest.
inline constexpr std::size_t max_line_bytes = 128 * 1024;

}  // namespace stile::audit
