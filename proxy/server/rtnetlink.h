// The kernel's rtnetlink messages that name addresses of this host, read. Pure; rtnetlink(7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "acl/address.h"

namespace stile::server {

// What one datagram says of a dump.
struct DumpPart {
  enum class State : std::uint8_t { more, done, failed };
  State state = State::more;
  int error = 0;                // of `failed`: errno; EPROTO if the bytes are no such messages
  bool is_interrupted = false;  // the table changed meanwhile: what was read may lack something
};

// Adds what the messages name: addresses of interfaces, and the prefixes in the table `local` that
// this host takes for its own (local, broadcast, anycast, multicast). Messages with another
// sequence number are passed over.
[[nodiscard]] DumpPart read_dump(std::span<const std::byte> datagram, std::uint32_t sequence,
                                 std::vector<acl::Prefix>& prefixes);

// Whether a notification tells of a change to any of these. True in doubt.
[[nodiscard]] bool concerns_addresses(std::span<const std::byte> datagram);

}  // namespace stile::server
