// Agent: the owner of a namespace, and all names and numbers derived from it.
#include "netns/agent.h"

#include "worker/agent_uids.h"

namespace stile::netns {
namespace {

constexpr std::size_t hash_characters = 9;
constexpr std::uint8_t shortest_subnet = 16;  // worker::most_agents addresses
// Locally administered, unicast.
constexpr std::uint8_t host_mac_start = 0x02;
constexpr std::uint8_t agent_mac_start = 0x06;
constexpr std::uint8_t second_mac_byte = 0x73;

// FNV-1a. The operator chooses ids, so a collision is no attack; `create` refuses one.
constexpr std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<std::uint8_t>(c);
    hash *= 0x100000001b3;
  }
  return hash ^ (hash >> 32U);
}

Mac mac_of(std::uint8_t first, const acl::Address& agent) noexcept {
  const auto value = agent.v4_value();
  return {first,
          second_mac_byte,
          static_cast<std::uint8_t>(value >> 24U),
          static_cast<std::uint8_t>(value >> 16U),
          static_cast<std::uint8_t>(value >> 8U),
          static_cast<std::uint8_t>(value)};
}

}  // namespace

std::string namespace_name(std::string_view id) { return "agent-" + std::string{id}; }

std::string device_name(std::string_view id) {
  constexpr std::string_view digits = "abcdefghijklmnopqrstuvwxyz234567";
  std::string name{device_prefix};
  auto rest = hash_of(id);
  for (std::size_t i = 0; i < hash_characters; ++i, rest >>= 5U) name += digits[rest & 31U];
  return name;
}

Mac host_mac(const acl::Address& agent) noexcept { return mac_of(host_mac_start, agent); }
Mac agent_mac(const acl::Address& agent) noexcept { return mac_of(agent_mac_start, agent); }

bool is_host_mac(const Mac& mac) noexcept {
  return mac[0] == host_mac_start && mac[1] == second_mac_byte;
}

Result<UidRange> uid_range(const acl::Prefix& subnet, const acl::Address& agent) {
  if (subnet.length < shortest_subnet || !subnet.contains(agent)) {
    return Error{"netns.subnet " + subnet.text() + " is larger than a /16, or has no " +
                 agent.text()};
  }
  const auto offset = agent.v4_value() - subnet.first().v4_value();
  return UidRange{worker::first_agent_uid + offset * worker::uids_per_agent,
                  worker::uids_per_agent};
}

}  // namespace stile::netns
