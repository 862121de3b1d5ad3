// packet: frames as an agent could send them, for the probes of `check`. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "acl/address.h"
#include "netns/agent.h"

namespace stile::netns {

// Part of each packet, to recognize it anywhere.
using Token = std::array<char, 16>;

struct Ends {
  Mac from_mac{}, to_mac{};
  acl::Address from, to;  // of one family
};

inline constexpr std::uint8_t protocol_icmp = 1;
inline constexpr std::uint8_t protocol_tcp = 6;
inline constexpr std::uint8_t protocol_udp = 17;
inline constexpr std::uint8_t protocol_sctp = 132;

// An Ethernet frame with an IP packet of that protocol (for IPv6 ICMP becomes ICMPv6): a SYN, a
// datagram, an echo request, an INIT, with the token as data. Ports are set if the protocol has
// them.
[[nodiscard]] std::string make_packet(const Ends& ends, std::uint8_t protocol, std::uint16_t port,
                                      const Token& token);

// An ARP broadcast, "Who has `to`? Tell `from`", padded with the token.
[[nodiscard]] std::string make_arp_request(const Ends& ends, const Token& token);

// The Internet checksum, RFC 1071.
[[nodiscard]] std::uint16_t checksum(std::string_view bytes);

}  // namespace stile::netns
