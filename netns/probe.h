// probe: what `check` tries from inside, and how each outcome is judged. Pure.
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
  passes,   // the one thing that an agent may do
  refused,  // dropped by the table, and counted
  ignored,  // dropped below the table (ARP, IPv6), or counted there
};
[[nodiscard]] std::string_view text(Expected expected) noexcept;

struct Probe {
  std::string name;
  Expected expected = Expected::refused;
  std::string frame;
};

// Whom the probes are aimed at.
struct Targets {
  Agent agent;
  acl::Address other_agent;          // of another agent, or nobody's
  std::optional<acl::Address> host;  // an address of the host, if it has one beside loopback
  std::uint16_t open_port = 0;       // on which somebody listens on all addresses of the host
};

// Each frame carries the token of its place in the list; see `token_of`.
[[nodiscard]] std::vector<Probe> make_probes(const config::NetnsSettings& settings,
                                             const Targets& targets, std::uint64_t run);

// Run and number, so that a packet that turns up late is known to belong to an earlier probe.
[[nodiscard]] Token token_of(std::uint64_t run, std::uint64_t number);
// The number of the probe of this run whose token stands in these bytes.
[[nodiscard]] std::optional<std::uint64_t> find_token(std::string_view bytes, std::uint64_t run);

// What was seen of one probe.
struct Facts {
  std::string not_sent;       // why it could not be sent
  bool has_arrived = false;   // at the host's end of the pair
  bool has_reached = false;   // a raw socket of the host has received it
  bool was_answered = false;  // something with its token went back to the agent
  std::string left_through;   // a device that it left the host or its namespace by
  bool is_passed = false;     // the counter of what passes has risen
  bool is_refused = false;    // that of what is refused has
};

struct Verdict {
  std::string got;
  bool is_good = false;
};
// Silence is never good: a probe has to be counted, or at least to be seen arriving.
[[nodiscard]] Verdict judge(Expected expected, const Facts& facts);

}  // namespace stile::netns
