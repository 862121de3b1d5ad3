// agent_uids: the user ids of the host that belong to agents. Pure.
#pragma once

#include <cstdint>

namespace stile::worker {

inline constexpr std::uint32_t uids_per_agent = 2048;
inline constexpr std::uint32_t most_agents = 1U << 16U;  // addresses of the largest subnet
// The default ranges of systemd containers, subuid(5) and directory services end below this; ids
// from 2^31 on break programs that read them as negative numbers. The range in between has room for
// the ids of all agents.
inline constexpr std::uint32_t first_agent_uid = 0x78000000;

[[nodiscard]] constexpr bool is_agent_uid(std::uint32_t uid) noexcept {
  return uid >= first_agent_uid && uid - first_agent_uid < most_agents * uids_per_agent;
}

}  // namespace stile::worker
