// inspect: finds which parts of an agent exist.
#include "netns/inspect.h"

#include <fcntl.h>
#include <net/if.h>
#include <unistd.h>

#include "base/files.h"
#include "config/card.h"
#include "netns/inet.h"
#include "netns/link.h"
#include "netns/namespaces.h"
#include "netns/resolver.h"
#include "netns/ruleset.h"
#include "netns/sysctl.h"
#include "netns/table_state.h"

namespace stile::netns {
namespace {

Result<bool> is_settled(const Agent& agent, const config::NetnsSettings& settings,
                        const UniqueFd& fd) {
  const acl::Address& gateway = settings.gateway;
  const auto visit = NamespaceVisit::enter(fd);
  if (!visit) return visit.error();
  auto netlink = Netlink::open();
  if (!netlink) return netlink.error();
  const auto link = find_link(*netlink, inside_device);
  if (!link) return link.error();
  if (!*link || ((*link)->flags & IFF_UP) == 0 || (*link)->mac != agent_mac(agent.address)) {
    return false;
  }
  const auto index = (*link)->index;
  auto address = has_address(*netlink, index, agent.address);
  if (!address || !*address) return address;
  auto route = has_host_route(*netlink, index, gateway);
  if (!route || !*route) return route;
  if (is_captured(settings, agent)) {
    auto all = leads_through(*netlink, index, settings.capture_subnet.last());
    if (!all || !*all) return all;
  }
  return has_neighbour(*netlink, index, gateway, host_mac(agent.address));
}

Result<bool> is_raised(Netlink& netlink, const Agent& agent, const Link& link) {
  constexpr unsigned wanted = IFF_UP | IFF_NOARP;
  if ((link.flags & wanted) != wanted) return false;
  auto route = has_host_route(netlink, link.index, agent.address);
  if (!route || !*route) return route;
  return has_neighbour(netlink, link.index, agent.address, agent_mac(agent.address));
}

// Our card, equal to the record; or none, if the operator's own card binds the agent.
Result<bool> has_card(const FenceHost& host, const FenceRecord& record) {
  const auto text = read_file(host.cards.get(), card_name(record.agent.id), config::max_card_bytes);
  if (!text) return text.error();
  return record.bound_by.empty() ? *text == record.card + "\n" : !*text;
}

}  // namespace

Result<AgentState> inspect(FenceHost& host, const FenceRecord& record) {
  const auto& agent = record.agent;
  AgentState state;
  state.record = record.is_complete ? AgentState::Record::complete : AgentState::Record::incomplete;
  const auto fd = open_namespace(agent.id);
  if (!fd) return fd.error();
  state.has_namespace = *fd && owner_of(**fd).has_value();
  if (state.has_namespace) {
    const auto settled = is_settled(agent, host.setup.netns, **fd);
    if (!settled) return settled.error();
    state.is_settled_inside = *settled;
  }
  const auto device = device_name(agent.id);
  const auto link = find_link(host.route, device);
  if (!link) return link.error();
  state.has_devices = *link && (*link)->mac == host_mac(agent.address);
  if (state.has_devices) {
    const auto raised = is_raised(host.route, agent, **link);
    if (!raised) return raised.error();
    state.is_raised = *raised;
    const auto open = first_open_sysctl(device);
    state.is_device_shut = open && open->empty();
  }
  const auto elements = read_elements(host.netfilter, agent);
  if (!elements) return elements.error();
  state.is_admitted = elements->passed && elements->refused &&
                      elements->is_captured == is_captured(host.setup.netns, agent);
  const auto resolver = has_resolver(host.setup.netns, agent);
  if (!resolver) return resolver.error();
  state.has_resolver = *resolver;
  const auto card = has_card(host, record);
  if (!card) return card.error();
  state.has_card = *card;
  return state;
}

}  // namespace stile::netns
