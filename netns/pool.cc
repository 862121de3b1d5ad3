// pool: chooses the address of a new agent.
#include "netns/pool.h"

namespace stile::netns {

bool is_for_agents(const config::NetnsSettings& settings, const acl::Address& address) noexcept {
  const auto& subnet = settings.subnet;
  return address.is_v4() && subnet.contains(address) && address != subnet.first() &&
         address != subnet.last() && address != settings.gateway;
}

std::optional<acl::Address> next_address(const config::NetnsSettings& settings,
                                         const std::optional<acl::Address>& last_given,
                                         const std::function<bool(const acl::Address&)>& is_taken) {
  const auto first = settings.subnet.first().v4_value();
  const auto last = settings.subnet.last().v4_value();
  const auto start =
      last_given && settings.subnet.contains(*last_given) ? last_given->v4_value() : first;
  auto value = start;
  do {
    value = value == last ? first : value + 1;
    const auto candidate = acl::Address::v4(value);
    if (is_for_agents(settings, candidate) && !is_taken(candidate)) return candidate;
  } while (value != start);
  return std::nullopt;
}

}  // namespace stile::netns
