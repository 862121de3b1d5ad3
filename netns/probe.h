// probe: the packets that `check` sends from inside, and how each outcome is judged. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "acl/address.h"
#include "config/settings.h"
#include "netns/agent.h"
#include "netns/packet.h"

namespace stile::netns {

enum class Expected : std::uint8_t {
  passes,    // the only traffic that an agent may send
  refused,   // dropped by the table, and counted
  ignored,   // dropped below the table (ARP, IPv6), or counted there
  captured,  // reaches the daemon, and is refused if none captures
};
[[nodiscard]] std::string_view text(Expected expected) noexcept;

struct Probe {
  std::string name;
  Expected expected = Expected::refused;
  std::string frame;
};

// The targets of the probes.
struct Targets {
  Agent agent;
  acl::Address other_agent;          // of another agent, or unused
  std::optional<acl::Address> host;  // an address of the host besides loopback, if any
  std::uint16_t open_port = 0;       // open on all addresses of the host
};

// Each frame carries the token of its index in the list; see `token_of`.
[[nodiscard]] std::vector<Probe> make_probes(const config::NetnsSettings& settings,
                                             const Targets& targets, std::uint64_t run);

// Run and number, so that a late packet is recognized as part of an earlier probe.
[[nodiscard]] Token token_of(std::uint64_t run, std::uint64_t number);
// The number of the probe of this run whose token is in these bytes.
[[nodiscard]] std::optional<std::uint64_t> find_token(std::string_view bytes, std::uint64_t run);

// The observations of one probe.
struct Facts {
  std::string not_sent;       // why it could not be sent
  bool has_arrived = false;   // at the host's end of the pair
  bool has_reached = false;   // a raw socket of the host received it
  bool was_answered = false;  // a packet with its token went back to the agent
  std::string left_through;   // the device by which it left the host or its namespace
  bool is_passed = false;     // the counter of passed packets has risen
  bool is_refused = false;    // the counter of refused packets has risen
};

struct ProbeVerdict {
  std::string got;
  bool is_good = false;
};
// Silence is a failure: a probe must be counted, or at least be seen to arrive.
[[nodiscard]] ProbeVerdict judge(Expected expected, const Facts& facts);

}  // namespace stile::netns
