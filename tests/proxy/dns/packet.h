// Builds DNS messages for tests, right ones and wrong ones.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace stile::dns {

using Bytes = std::vector<std::uint8_t>;

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Bytes u16(std::size_t value) {
  return {static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
}
inline Bytes u32(std::size_t value) { return u16(value >> 16 & 0xffff) + u16(value & 0xffff); }

// "a.b" as labels; each `label` begins with its length.
inline Bytes labels(std::string_view text) {
  Bytes bytes;
  while (!text.empty()) {
    const std::string_view label = text.substr(0, text.find('.'));
    bytes.push_back(static_cast<std::uint8_t>(label.size()));
    bytes.insert(bytes.end(), label.begin(), label.end());
    text.remove_prefix(std::min(text.size(), label.size() + 1));
  }
  return bytes;
}
inline Bytes wire(std::string_view text) { return labels(text) + Bytes{0}; }
inline Bytes pointer(std::size_t target) { return u16(0xc000 | target); }

enum : std::uint16_t { type_a = 1, type_ns = 2, type_cname = 5, type_soa = 6, type_aaaa = 28 };

struct RecordParts {
  Bytes owner;
  std::uint16_t type = type_a;
  Bytes data;
  std::size_t ttl = 300;
  std::uint16_t rclass = 1;

  [[nodiscard]] Bytes bytes() const {
    return owner + u16(type) + u16(rclass) + u32(ttl) + u16(data.size()) + data;
  }
};

inline RecordParts a(std::string_view owner, Bytes address, std::size_t ttl = 300) {
  return {wire(owner), type_a, std::move(address), ttl};
}
inline RecordParts cname(std::string_view owner, std::string_view target, std::size_t ttl = 300) {
  return {wire(owner), type_cname, wire(target), ttl};
}
inline RecordParts soa(std::string_view zone, std::size_t ttl, std::size_t minimum) {
  return {wire(zone), type_soa,
          wire("ns.x") + wire("mail.x") + u32(1) + u32(2) + u32(3) + u32(4) + u32(minimum), ttl};
}

struct MessageParts {
  std::uint16_t flags = 0x8180;  // an answer; recursion desired and available
  std::size_t questions = 1;
  Bytes question = wire("A.tesT");
  std::uint16_t type = type_a, rclass = 1;
  std::vector<RecordParts> answers, authorities;

  [[nodiscard]] Bytes bytes() const {
    Bytes message = u16(0x1234) + u16(flags) + u16(questions) + u16(answers.size()) +
                    u16(authorities.size()) + u16(0) + question + u16(type) + u16(rclass);
    for (const RecordParts& record : answers) message = std::move(message) + record.bytes();
    for (const RecordParts& record : authorities) message = std::move(message) + record.bytes();
    return message;
  }
};

}  // namespace stile::dns
