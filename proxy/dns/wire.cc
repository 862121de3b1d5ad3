// Names and records of a DNS message (RFC 1035 4.1).
#include "proxy/dns/wire.h"

namespace stile::dns {
namespace {

constexpr std::uint8_t lower(std::uint8_t c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<std::uint8_t>(c | 0x20) : c;
}

constexpr std::size_t max_label_bytes = 63;

}  // namespace

std::optional<Name> Name::from_text(std::string_view text) noexcept {
  if (text.ends_with('.')) text.remove_suffix(1);
  Name name;
  while (!text.empty()) {
    const std::size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (label.empty()) return std::nullopt;
    const Packet bytes{reinterpret_cast<const std::uint8_t*>(label.data()), label.size()};
    if (!name.append_label(bytes)) return std::nullopt;
    text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
    if (dot != std::string_view::npos && text.empty()) return std::nullopt;
  }
  if (!name.append_label({})) return std::nullopt;
  return name;
}

std::optional<Name> Name::read(Packet packet, std::size_t& at) noexcept {
  constexpr std::uint8_t pointer = 0xc0;
  Name name;
  std::size_t from = at;  // where the current run of labels began
  std::size_t place = at;
  std::size_t pointers = 0;
  while (place < packet.size()) {
    const std::uint8_t length = packet[place];
    if ((length & pointer) == pointer) {
      if (place + 1 >= packet.size()) return std::nullopt;
      const std::size_t target =
          static_cast<std::size_t>(length & ~pointer) << 8 | packet[place + 1];
      if (target >= from || target < header_bytes || pointers == max_pointers) return std::nullopt;
      if (pointers++ == 0) at = place + 2;
      from = place = target;
      continue;
    }
    // The two other patterns of the upper bits were never assigned: append_label refuses them.
    if (length > packet.size() - place - 1) return std::nullopt;
    if (!name.append_label(packet.subspan(place + 1, length))) return std::nullopt;
    place += 1 + std::size_t{length};
    if (length == 0) {
      if (pointers == 0) at = place;
      return name;
    }
  }
  return std::nullopt;
}

bool Name::append_label(Packet label) noexcept {
  if (label.size() > max_label_bytes || size_ + 1 + label.size() > max_bytes) return false;
  bytes_[size_++] = static_cast<std::uint8_t>(label.size());
  for (const std::uint8_t c : label) bytes_[size_++] = lower(c);
  return true;
}

bool Name::is_within(const Name& zone) const noexcept {
  for (std::size_t at = 0; at < size_; at += 1 + std::size_t{bytes_[at]}) {
    if (std::ranges::equal(bytes().subspan(at), zone.bytes())) return true;
  }
  return false;
}

bool operator==(const Name& a, const Name& b) noexcept {
  return std::ranges::equal(a.bytes(), b.bytes());
}

std::optional<std::uint16_t> read_u16(Packet packet, std::size_t& at) noexcept {
  if (at > packet.size() || packet.size() - at < 2) return std::nullopt;
  const auto value = static_cast<std::uint16_t>(packet[at] << 8 | packet[at + 1]);
  at += 2;
  return value;
}

std::optional<std::uint32_t> read_u32(Packet packet, std::size_t& at) noexcept {
  const auto high = read_u16(packet, at);
  const auto low = read_u16(packet, at);
  if (!high || !low) return std::nullopt;
  return static_cast<std::uint32_t>(*high) << 16 | *low;
}

std::optional<ResourceRecord> read_record(Packet packet, std::size_t& at) noexcept {
  constexpr std::uint32_t top_bit = 0x80000000;
  ResourceRecord record;
  record.owner_at = at;
  const auto owner = Name::read(packet, at);
  if (!owner) return std::nullopt;
  record.owner = *owner;
  const auto type = read_u16(packet, at), rclass = read_u16(packet, at);
  const auto ttl = read_u32(packet, at);
  const auto data_bytes = read_u16(packet, at);
  if (!type || !rclass || !ttl || !data_bytes || *data_bytes > packet.size() - at)
    return std::nullopt;
  record.type = *type;
  record.rclass = *rclass;
  record.ttl_seconds = (*ttl & top_bit) == 0 ? *ttl : 0;  // RFC 2181 8
  record.data_at = at;
  record.data_bytes = *data_bytes;
  at += *data_bytes;
  return record;
}

}  // namespace stile::dns
