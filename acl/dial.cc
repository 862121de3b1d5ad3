// may_dial: step 8, for one address.
#include "acl/decide.h"

namespace stile::acl {
namespace {

bool covers_host(const PrivateException& exception, const Decision& decision) noexcept {
  if (!exception.hosts) return true;
  const HostKey key{decision.host};
  return exception.hosts->visit(
      key, [&](const CoveringRule& rule) { return rule.port == 0 || rule.port == decision.port; });
}

bool is_excepted(const AgentPolicy& agent, const Decision& decision,
                 const Address& address) noexcept {
  for (const PrivateException& exception : agent.private_exceptions) {
    if (exception.prefix.contains(address) && covers_host(exception, decision)) return true;
  }
  return false;
}

}  // namespace

bool may_dial(const AgentPolicy& agent, const Decision& decision, const Address& address,
              const PrefixMap& own) noexcept {
  if (decision.awaits_addresses || agent.forbid_addresses.find(address)) return false;
  if (decision.literal_allowed) return decision.literal == address;
  if (is_excepted(agent, decision, address)) return true;
  return !own.find(address) && is_global_unicast(address);
}

}  // namespace stile::acl
