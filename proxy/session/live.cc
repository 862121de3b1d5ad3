// Live: anything open of an agent.
#include "proxy/session/live.h"

#include "proxy/net/sockaddr.h"
#include "proxy/session/context.h"

namespace stile::session {

Peer::Peer(Shared& shared, std::shared_ptr<const acl::AgentPolicy> agent_policy,
           std::shared_ptr<acl::Account> agent_account, std::shared_ptr<metrics::Tally> agent_tally,
           const acl::Address& address, std::uint16_t port, std::uint64_t number, bool by_listener,
           Lent lent)
    : agent{std::move(agent_policy)},
      account{std::move(agent_account)},
      tally{std::move(agent_tally)},
      conn{number},
      shared_{&shared},
      address_{address},
      port_{port},
      by_listener_{by_listener},
      lent_{std::move(lent)} {
  account->connections.fetch_add(1, std::memory_order_relaxed);
  shared_->connections.fetch_add(1, std::memory_order_relaxed);
}

Peer::~Peer() {
  if (!account) return;  // moved from: the tunnel still counts
  account->connections.fetch_sub(1, std::memory_order_relaxed);
  shared_->connections.fetch_sub(1, std::memory_order_relaxed);
}

const std::shared_ptr<const acl::AgentPolicy>* Peer::in(const acl::Snapshot& snapshot) const {
  if (!agent || (lent_ && !*lent_)) return nullptr;
  const auto* now = snapshot.by_id(agent->id);
  // Another account: the id is the same, but it is a different agent now.
  if (now == nullptr || (*now)->account != account) return nullptr;
  if (by_listener_) return now;
  // Its address may now belong to another agent, or to none.
  const auto* owner = snapshot.by_source(address_);
  return owner != nullptr && owner->get() == now->get() ? now : nullptr;
}

std::string Peer::source_text() const {
  return by_listener_ && port_ == 0 ? "unix" : net::endpoint_text(address_, port_);
}

const std::shared_ptr<metrics::Tally>& Context::tally(const std::string& agent) {
  auto& found = tallies[agent];
  if (!found) {
    found = std::make_shared<metrics::Tally>();
    found->agent = agent;
    found->share = std::make_shared<Share>();
  }
  return found;
}

}  // namespace stile::session
