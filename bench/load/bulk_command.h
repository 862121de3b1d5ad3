// What a client tells the origin after the first exchange: which way bytes go, and how many.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace stile::bench {

constexpr std::size_t chunk_bytes = 256UL * 1024;  // per read or write of bulk

enum class Direction : std::uint8_t { up = 'U', down = 'D' };

struct BulkCommand {
  Direction direction;
  std::uint64_t bytes;
};

using BulkCommandBytes = std::array<char, 9>;

inline BulkCommandBytes encode(const BulkCommand& command) {
  BulkCommandBytes text{static_cast<char>(command.direction)};
  std::memcpy(text.data() + 1, &command.bytes, sizeof command.bytes);  // both ends are one host
  return text;
}

inline BulkCommand decode(const BulkCommandBytes& text) {
  BulkCommand command{static_cast<Direction>(text[0]), 0};
  std::memcpy(&command.bytes, text.data() + 1, sizeof command.bytes);
  return command;
}

}  // namespace stile::bench
