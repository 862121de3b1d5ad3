// Parses the kernel's rtnetlink messages that name addresses of this host.
#include "proxy/server/rtnetlink.h"

#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

namespace stile::server {
namespace {

using Bytes = std::span<const std::byte>;

// Reads a structure at the beginning, if enough bytes are there. What follows it is aligned to 4.
template <class Header>
std::optional<Header> take_header(Bytes& bytes) {
  if (bytes.size() < sizeof(Header)) return {};
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes = bytes.subspan(std::min<std::size_t>(NLMSG_ALIGN(sizeof header), bytes.size()));
  return header;
}

struct Message {
  nlmsghdr header;
  Bytes body;
};

// The next message of a datagram; none if the remaining bytes are not a message.
std::optional<Message> take_message(Bytes& bytes) {
  if (bytes.size() < sizeof(nlmsghdr)) return {};
  nlmsghdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.nlmsg_len < sizeof header || header.nlmsg_len > bytes.size()) return {};
  const Message message{header, bytes.subspan(sizeof header, header.nlmsg_len - sizeof header)};
  bytes = bytes.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), bytes.size()));
  return message;
}

// The value of an attribute; empty if it is missing. False: the attributes are malformed.
bool find_attribute(Bytes attributes, std::uint16_t wanted, Bytes& value) {
  value = {};
  while (!attributes.empty()) {
    if (attributes.size() < sizeof(rtattr)) return false;
    rtattr header;
    std::memcpy(&header, attributes.data(), sizeof header);
    if (header.rta_len < sizeof header || header.rta_len > attributes.size()) return false;
    if ((header.rta_type & NLA_TYPE_MASK) == wanted) {
      value = attributes.subspan(sizeof header, header.rta_len - sizeof header);
    }
    attributes =
        attributes.subspan(std::min<std::size_t>(RTA_ALIGN(header.rta_len), attributes.size()));
  }
  return true;
}

// The first `length` bits of an address of that family. No bytes: the prefix of all addresses.
std::optional<acl::Prefix> make_prefix(int family, Bytes bytes, unsigned length) {
  const std::size_t size = family == AF_INET ? 4 : 16;
  if (length > size * 8 || (bytes.size() != size && !(bytes.empty() && length == 0))) return {};
  std::array<std::uint8_t, 16> address{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned kept = std::min(8U, length > i * 8 ? length - static_cast<unsigned>(i) * 8 : 0U);
    address[i] = static_cast<std::uint8_t>(std::to_integer<unsigned>(bytes[i]) & (0xff00U >> kept));
  }
  if (family == AF_INET6)
    return acl::Prefix{acl::Address::v6(address), static_cast<std::uint8_t>(length)};
  const std::uint32_t value = std::uint32_t{address[0]} << 24 | std::uint32_t{address[1]} << 16 |
                              std::uint32_t{address[2]} << 8 | address[3];
  return acl::Prefix{acl::Address::v4(value), static_cast<std::uint8_t>(length)};
}

bool is_ip(int family) { return family == AF_INET || family == AF_INET6; }

// False: malformed.
bool read_route(Bytes body, std::vector<acl::Prefix>& prefixes) {
  const auto route = take_header<rtmsg>(body);
  if (!route) return false;
  if (!is_ip(route->rtm_family)) return true;
  Bytes table, destination;
  if (!find_attribute(body, RTA_TABLE, table) || !find_attribute(body, RTA_DST, destination)) {
    return false;
  }
  std::uint32_t number = route->rtm_table;
  if (table.size() == sizeof number) std::memcpy(&number, table.data(), sizeof number);
  const bool is_own = route->rtm_type == RTN_LOCAL || route->rtm_type == RTN_BROADCAST ||
                      route->rtm_type == RTN_ANYCAST || route->rtm_type == RTN_MULTICAST;
  // Other tables may mark the whole internet as `local`, for packets with a mark (TPROXY).
  if (number != RT_TABLE_LOCAL || !is_own) return true;
  const auto prefix = make_prefix(route->rtm_family, destination, route->rtm_dst_len);
  if (!prefix) return false;
  prefixes.push_back(*prefix);
  return true;
}

bool read_address(Bytes body, std::vector<acl::Prefix>& prefixes) {
  const auto entry = take_header<ifaddrmsg>(body);
  if (!entry) return false;
  if (!is_ip(entry->ifa_family)) return true;
  // On a point-to-point link `address` is that of the other end.
  Bytes own;
  if (!find_attribute(body, IFA_LOCAL, own)) return false;
  if (own.empty() && !find_attribute(body, IFA_ADDRESS, own)) return false;
  if (own.empty()) return true;
  const auto prefix = make_prefix(entry->ifa_family, own, entry->ifa_family == AF_INET ? 32 : 128);
  if (!prefix) return false;
  prefixes.push_back(*prefix);
  return true;
}

}  // namespace

DumpPart read_dump(Bytes datagram, std::uint32_t sequence, std::vector<acl::Prefix>& prefixes) {
  DumpPart part;
  const auto failed = [&part](int error) {
    part.state = DumpPart::State::failed;
    part.error = error;
    return part;
  };
  while (!datagram.empty()) {
    const auto message = take_message(datagram);
    if (!message) return failed(EPROTO);
    const nlmsghdr& header = message->header;
    if (header.nlmsg_seq != sequence) continue;
    if ((header.nlmsg_flags & NLM_F_DUMP_INTR) != 0) part.is_interrupted = true;
    bool is_whole = true;
    if (header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR) {
      std::int32_t result = 0;  // a negative errno
      if (message->body.size() < sizeof result) return failed(EPROTO);
      std::memcpy(&result, message->body.data(), sizeof result);
      // The least number has no positive counterpart.
      if (result == std::numeric_limits<std::int32_t>::min()) return failed(EPROTO);
      if (result < 0) return failed(-result);
      part.state = DumpPart::State::done;
      return part;
    }
    if (header.nlmsg_type == RTM_NEWROUTE) is_whole = read_route(message->body, prefixes);
    if (header.nlmsg_type == RTM_NEWADDR) is_whole = read_address(message->body, prefixes);
    if (!is_whole) return failed(EPROTO);
  }
  return part;
}

bool concerns_addresses(Bytes datagram) {
  while (!datagram.empty()) {
    const auto message = take_message(datagram);
    if (!message) return true;
    const auto type = message->header.nlmsg_type;
    if (type != RTM_NEWROUTE && type != RTM_DELROUTE) return true;
    std::vector<acl::Prefix> named;
    if (!read_route(message->body, named) || !named.empty()) return true;
  }
  return false;
}

}  // namespace stile::server
