// Parses the kernel's rtnetlink messages that name addresses of this host. Pure; rtnetlink(7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "acl/address.h"

namespace stile::server {

// The state of a dump after one datagram.
struct DumpPart {
  enum class State : std::uint8_t { more, done, failed };
  State state = State::more;
  int error = 0;                // for `failed`: errno; EPROTO if the bytes are not such messages
  bool is_interrupted = false;  // the table changed meanwhile: the result may be incomplete
};

// Adds what the messages name: addresses of interfaces, and the prefixes in the table `local` that
// this host treats as its own (local, broadcast, anycast, multicast). Messages with another
// sequence number are skipped.
[[nodiscard]] DumpPart read_dump(std::span<const std::byte> datagram, std::uint32_t sequence,
                                 std::vector<acl::Prefix>& prefixes);

// Whether a notification reports a change to any of these. True if in doubt.
[[nodiscard]] bool concerns_addresses(std::span<const std::byte> datagram);

}  // namespace stile::server
