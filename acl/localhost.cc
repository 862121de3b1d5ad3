// localhost: names of the host that asks.
#include "acl/localhost.h"

#include <algorithm>

namespace stile::acl {

bool is_localhost(std::string_view name) noexcept {
  return name == "localhost" || name.ends_with(".localhost");
}

bool reaches_loopback(const AgentPolicy& agent) noexcept {
  const Prefix v4{Address::v4(0x7f000000), 8};
  const Address v6 = Address::v6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  return std::any_of(agent.private_exceptions.begin(), agent.private_exceptions.end(),
                     [&](const PrivateException& exception) {
                       return v4.contains(exception.prefix.address) ||
                              exception.prefix.contains(v6);
                     });
}

}  // namespace stile::acl
