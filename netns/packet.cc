// packet: frames as an agent could send them, for the probes of `check`.
#include "netns/packet.h"

#include <string_view>

namespace stile::netns {
namespace {

constexpr std::uint16_t type_ipv4 = 0x0800;
constexpr std::uint16_t type_arp = 0x0806;
constexpr std::uint16_t type_ipv6 = 0x86dd;
constexpr std::uint8_t protocol_icmpv6 = 58;
constexpr std::uint8_t hop_limit = 64;
constexpr std::uint16_t source_port = 40'000;
constexpr Mac broadcast{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

void put8(std::string& bytes, unsigned value) { bytes += static_cast<char>(value); }
void put16(std::string& bytes, unsigned value) {
  put8(bytes, value >> 8U);
  put8(bytes, value & 0xffU);
}
void put32(std::string& bytes, std::uint32_t value) {
  put16(bytes, value >> 16U);
  put16(bytes, value & 0xffffU);
}
void put(std::string& bytes, const Mac& mac) {
  for (const auto byte : mac) put8(bytes, byte);
}
void put(std::string& bytes, const Token& token) { bytes.append(token.data(), token.size()); }
void put(std::string& bytes, const acl::Address& address) {
  if (address.is_v4()) {
    put32(bytes, address.v4_value());
  } else {
    for (const auto byte : address.v6_bytes()) put8(bytes, byte);
  }
}
void set16(std::string& bytes, std::size_t at, std::uint16_t value) {
  bytes[at] = static_cast<char>(value >> 8U);
  bytes[at + 1] = static_cast<char>(value & 0xffU);
}

std::string tcp_syn(std::uint16_t port, const Token& token) {
  std::string bytes;
  put16(bytes, source_port);
  put16(bytes, port);
  put32(bytes, 1);       // sequence number
  put32(bytes, 0);       // acknowledgement
  put16(bytes, 0x5002);  // header of five words, SYN
  put16(bytes, 0xffff);  // window
  put32(bytes, 0);       // checksum, urgent pointer
  put(bytes, token);
  return bytes;
}

std::string udp_datagram(std::uint16_t port, const Token& token) {
  std::string bytes;
  put16(bytes, source_port);
  put16(bytes, port);
  put16(bytes, static_cast<unsigned>(8 + token.size()));
  put16(bytes, 0);  // checksum
  put(bytes, token);
  return bytes;
}

std::string echo_request(bool is_v4, const Token& token) {
  std::string bytes;
  put16(bytes, is_v4 ? 0x0800 : 0x8000);
  put16(bytes, 0);  // checksum
  put32(bytes, 1);  // identifier, sequence number
  put(bytes, token);
  return bytes;
}

// Only the common header, which is what a listener for the protocol reads. Its checksum is wrong.
std::string sctp_start(std::uint16_t port, const Token& token) {
  std::string bytes;
  put16(bytes, source_port);
  put16(bytes, port);
  put32(bytes, 0);  // tag
  put32(bytes, 0);  // checksum
  put(bytes, token);
  return bytes;
}

std::string pseudo_header(const Ends& ends, std::uint8_t protocol, std::size_t size) {
  std::string bytes;
  put(bytes, ends.from);
  put(bytes, ends.to);
  put32(bytes, static_cast<std::uint32_t>(size));
  put32(bytes, protocol);
  return bytes;
}

std::string segment(const Ends& ends, std::uint8_t protocol, std::uint16_t port,
                    const Token& token) {
  const bool is_v4 = ends.from.is_v4();
  const auto with_checksum = [&](std::string bytes, std::size_t at, bool covers_addresses) {
    const auto pseudo = covers_addresses ? pseudo_header(ends, protocol, bytes.size()) : "";
    set16(bytes, at, checksum(pseudo + bytes));
    return bytes;
  };
  switch (protocol) {
    case protocol_tcp:
      return with_checksum(tcp_syn(port, token), 16, true);
    case protocol_udp:
      return with_checksum(udp_datagram(port, token), 6, true);
    case protocol_icmp:
    case protocol_icmpv6:
      return with_checksum(echo_request(is_v4, token), 2, !is_v4);
    default:
      return sctp_start(port, token);
  }
}

std::string ipv4(const Ends& ends, std::uint8_t protocol, const std::string& content) {
  constexpr std::size_t header_size = 20;
  std::string bytes;
  put16(bytes, 0x4500);
  put16(bytes, static_cast<unsigned>(header_size + content.size()));
  put32(bytes, 0x00004000);  // id, don't fragment
  put8(bytes, hop_limit);
  put8(bytes, protocol);
  put16(bytes, 0);
  put(bytes, ends.from);
  put(bytes, ends.to);
  set16(bytes, 10, checksum(bytes));
  return bytes + content;
}

std::string ipv6(const Ends& ends, std::uint8_t protocol, const std::string& content) {
  std::string bytes;
  put32(bytes, 0x60000000);
  put16(bytes, static_cast<unsigned>(content.size()));
  put8(bytes, protocol);
  put8(bytes, hop_limit);
  put(bytes, ends.from);
  put(bytes, ends.to);
  return bytes + content;
}

std::string frame(const Mac& to, const Mac& from, std::uint16_t type, const std::string& content) {
  std::string bytes;
  put(bytes, to);
  put(bytes, from);
  put16(bytes, type);
  return bytes + content;
}

}  // namespace

std::uint16_t checksum(std::string_view bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    sum += i % 2 == 0 ? static_cast<std::uint32_t>(byte) << 8U : byte;
  }
  while ((sum >> 16U) != 0) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

std::string make_packet(const Ends& ends, std::uint8_t protocol, std::uint16_t port,
                        const Token& token) {
  const bool is_v4 = ends.from.is_v4();
  if (!is_v4 && protocol == protocol_icmp) protocol = protocol_icmpv6;
  const auto content = segment(ends, protocol, port, token);
  return frame(ends.to_mac, ends.from_mac, is_v4 ? type_ipv4 : type_ipv6,
               is_v4 ? ipv4(ends, protocol, content) : ipv6(ends, protocol, content));
}

std::string make_arp_request(const Ends& ends, const Token& token) {
  std::string bytes;
  put16(bytes, 1);  // Ethernet
  put16(bytes, type_ipv4);
  put16(bytes, 0x0604);  // sizes of both kinds of address
  put16(bytes, 1);       // request
  put(bytes, ends.from_mac);
  put(bytes, ends.from);
  put(bytes, Mac{});
  put(bytes, ends.to);
  put(bytes, token);
  return frame(broadcast, ends.from_mac, type_arp, bytes);
}

}  // namespace stile::netns
