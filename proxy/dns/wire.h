// Names and records of a DNS message, read within bounds. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stile::dns {

using Packet = std::span<const std::uint8_t>;

inline constexpr std::size_t header_bytes = 12;
inline constexpr std::uint16_t class_in = 1;

// A name in wire format (each label after its length, a zero at the end), without compression and
// in lower case, so that equal names have equal bytes. Unlike dotted text, a label that contains a
// dot cannot confuse it.
class Name {
 public:
  // Dotted text, with or without a final dot. nullopt: empty or overlong labels or name.
  static std::optional<Name> from_text(std::string_view text) noexcept;

  // Reads the name at `at` and moves `at` past it. Each compression pointer must point to before
  // the target of the last one, so there is no loop, and there are at most max_pointers: a packet
  // has room for thousands, which every name in it could go through. nullopt: malformed.
  static std::optional<Name> read(Packet packet, std::size_t& at) noexcept;

  [[nodiscard]] Packet bytes() const noexcept { return {bytes_.data(), size_}; }
  // True if `zone` is this name or a parent of it.
  [[nodiscard]] bool is_within(const Name& zone) const noexcept;

  friend bool operator==(const Name& a, const Name& b) noexcept;

 private:
  bool append_label(Packet label) noexcept;

  static constexpr std::size_t max_bytes = 255;     // RFC 1035 2.3.4
  static constexpr std::size_t max_pointers = 127;  // one after each label
  std::array<std::uint8_t, max_bytes> bytes_;
  std::size_t size_ = 0;
};

[[nodiscard]] std::optional<std::uint16_t> read_u16(Packet packet, std::size_t& at) noexcept;
[[nodiscard]] std::optional<std::uint32_t> read_u32(Packet packet, std::size_t& at) noexcept;

struct ResourceRecord {
  std::size_t owner_at = 0;
  Name owner;
  std::uint16_t type = 0, rclass = 0;
  std::uint32_t ttl_seconds = 0;
  std::size_t data_at = 0;
  std::size_t data_bytes = 0;
};

// Reads the record at `at` and moves `at` past it; its owner and data are within the packet.
[[nodiscard]] std::optional<ResourceRecord> read_record(Packet packet, std::size_t& at) noexcept;

}  // namespace stile::dns
