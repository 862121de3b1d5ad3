// The table `inet stile` as text for nftables: the whole table, and the changes for one agent.
#pragma once

#include <span>
#include <string>

#include "config/settings.h"
#include "netns/agent.h"

namespace stile::netns {

inline constexpr const char* table_name = "stile";
// Sets of the table. Each element counts the packets that match it.
inline constexpr const char* agents_set = "agents";      // device and address that may send
inline constexpr const char* refused_set = "refused";    // device; counts what else it sent
inline constexpr const char* captured_set = "captured";  // as `agents`, without a counter

// The table without agents.
[[nodiscard]] std::string empty_table(const config::NetnsSettings& settings);

// The table with these agents, replacing any table of that name. One transaction: the table is
// never missing.
[[nodiscard]] std::string whole_table(const config::NetnsSettings& settings,
                                      std::span<const Agent> agents);

// Changes to the sets for one agent. The cost does not grow with the number of agents.
[[nodiscard]] std::string admit(const config::NetnsSettings& settings, const Agent& agent);
// Whether the agent is captured now: without `capture` in the config, none is.
[[nodiscard]] bool is_captured(const config::NetnsSettings& settings, const Agent& agent) noexcept;
// Only for existing elements: in nftables, deleting a missing element is an error.
[[nodiscard]] std::string expel_pair(const std::string& device, const acl::Address& address);
[[nodiscard]] std::string expel_captured(const std::string& device, const acl::Address& address);
[[nodiscard]] std::string expel_device(const std::string& device);

}  // namespace stile::netns
