// The table `inet stile` as text for nftables: the whole of it, and what one agent adds to it.
#pragma once

#include <span>
#include <string>

#include "config/settings.h"
#include "netns/agent.h"

namespace stile::netns {

inline constexpr const char* table_name = "stile";
// Sets of the table. Each element counts the packets that it stands for.
inline constexpr const char* agents_set = "agents";    // device and address that may speak
inline constexpr const char* refused_set = "refused";  // device; what it sent beyond that

// The table without any agent.
[[nodiscard]] std::string empty_table(const config::NetnsSettings& settings);

// The table with these agents, in place of whatever is called so. One transaction: there is no
// moment without a table.
[[nodiscard]] std::string whole_table(const config::NetnsSettings& settings,
                                      std::span<const Agent> agents);

// Changes to the sets for one agent. Neither costs more when there are more agents.
[[nodiscard]] std::string admit(const Agent& agent);
// Only for what is there: nftables takes the deletion of a missing element for an error.
[[nodiscard]] std::string expel_pair(const std::string& device, const acl::Address& address);
[[nodiscard]] std::string expel_device(const std::string& device);

}  // namespace stile::netns
