// apply: executes the steps of a plan.
#include "netns/apply.h"

#include "base/files.h"
#include "netns/inet.h"
#include "netns/inspect.h"
#include "netns/link.h"
#include "netns/namespaces.h"
#include "netns/nft.h"
#include "netns/resolver.h"
#include "netns/ruleset.h"
#include "netns/sockets.h"
#include "netns/sysctl.h"
#include "netns/table_state.h"

namespace stile::netns {
namespace {

constexpr mode_t card_mode = 0640;

Result<UniqueFd> require_namespace(const Agent& agent) {
  auto fd = open_namespace(agent.id);
  if (!fd) return fd.error();
  if (!*fd) return Error{"there is no namespace " + namespace_path(agent.id)};
  return std::move(**fd);
}

Result<Link> require_link(Netlink& netlink, const std::string& name) {
  auto link = find_link(netlink, name);
  if (!link) return link.error();
  if (!*link) return Error{"there is no device " + name};
  return std::move(**link);
}

Result<void> make_namespace_step(const FenceHost& host, const Agent& agent) {
  const auto uids = uid_range(host.setup.netns.subnet, agent.address);
  if (!uids) return uids.error();
  // Replaces an empty file, or a namespace that is not ours, at the path of our lost one.
  if (const auto removed = remove_namespace(agent.id); !removed) return removed.error();
  return make_namespace(agent.id, *uids);
}

Result<void> make_devices(FenceHost& host, const Agent& agent) {
  const auto fd = require_namespace(agent);
  if (!fd) return fd.error();
  if (const auto old = remove_link(host.route, device_name(agent.id)); !old) return old.error();
  return add_veth(host.route, agent, fd->get());
}

Result<void> settle_inside(const FenceHost& host, const Agent& agent) {
  const auto& gateway = host.setup.netns.gateway;
  const auto fd = require_namespace(agent);
  if (!fd) return fd.error();
  const auto visit = NamespaceVisit::enter(*fd);
  if (!visit) return visit.error();
  for (const auto* name : {"all", "default"}) {
    for (const auto& sysctl : inside_sysctls()) {
      if (auto done = set_sysctl(name, sysctl); !done) return done;
    }
  }
  auto netlink = Netlink::open();
  if (!netlink) return netlink.error();
  if (auto done = raise_link(*netlink, loopback_index, false); !done) return done;
  const auto link = require_link(*netlink, inside_device);
  if (!link) return link.error();
  if (auto done = add_address(*netlink, link->index, agent.address); !done) return done.error();
  if (auto done = raise_link(*netlink, link->index, false); !done) return done;
  if (auto done = add_host_route(*netlink, link->index, gateway); !done) return done.error();
  if (is_captured(host.setup.netns, agent)) {
    const auto done = add_default_route(*netlink, link->index, gateway);
    if (!done) return done.error();
  }
  return add_neighbour(*netlink, link->index, gateway, host_mac(agent.address));
}

Result<void> raise_device(FenceHost& host, const Agent& agent) {
  const auto link = require_link(host.route, device_name(agent.id));
  if (!link) return link.error();
  if (auto done = raise_link(host.route, link->index, true); !done) return done;
  if (auto done = add_host_route(host.route, link->index, agent.address); !done) {
    return done.error();
  }
  return add_neighbour(host.route, link->index, agent.address, agent_mac(agent.address));
}

Result<void> expel(FenceHost& host, const Agent& agent) {
  const auto elements = read_elements(host.netfilter, agent);
  if (!elements) return elements.error();
  const auto device = device_name(agent.id);
  std::string commands;
  if (elements->passed) commands += expel_pair(device, agent.address);
  if (elements->refused) commands += expel_device(device);
  if (elements->is_captured) commands += expel_captured(device, agent.address);
  return commands.empty() ? Result<void>{} : run_nft(commands);
}

// Also takes out what the agent should no longer have.
Result<void> admit_agent(FenceHost& host, const Agent& agent) {
  const auto elements = read_elements(host.netfilter, agent);
  if (!elements) return elements.error();
  auto commands = admit(host.setup.netns, agent);
  if (elements->is_captured && !is_captured(host.setup.netns, agent)) {
    commands += expel_captured(device_name(agent.id), agent.address);
  }
  return run_nft(commands);
}

Result<void> write_card(const FenceHost& host, const FenceRecord& record) {
  const auto name = card_name(record.agent.id);
  if (record.bound_by.empty()) {
    return replace_file(host.cards.get(), name, record.card + "\n", card_mode,
                        FileOwner{0, host.card_group});
  }
  const auto removed = remove_file(host.cards.get(), name);
  if (!removed) return removed.error();
  return {};
}

template <class T>
Result<void> without_value(const Result<T>& result) {
  if (!result) return result.error();
  return {};
}

}  // namespace

Result<void> apply(FenceHost& host, FenceRecord& record, Step step) {
  const auto& agent = record.agent;
  switch (step) {
    case Step::write_record:
      record.is_complete = false;
      return host.records.write(record);
    case Step::make_namespace:
      return make_namespace_step(host, agent);
    case Step::make_devices:
      return make_devices(host, agent);
    case Step::shut_device:
      return shut_device(device_name(agent.id));
    case Step::settle_inside:
      return settle_inside(host, agent);
    case Step::raise_device:
      return raise_device(host, agent);
    case Step::admit:
      return admit_agent(host, agent);
    case Step::write_resolver:
      return write_resolver(host.setup.netns, agent);
    case Step::write_card:
      return write_card(host, record);
    case Step::complete_record:
      record.is_complete = true;
      return host.records.write(record);
    case Step::remove_devices:
      return without_value(remove_link(host.route, device_name(agent.id)));
    case Step::expel:
      return expel(host, agent);
    case Step::close_sockets:
      return without_value(close_sockets_with(agent.address));
    case Step::remove_card:
      return without_value(remove_file(host.cards.get(), card_name(agent.id)));
    case Step::remove_resolver:
      return remove_resolver(agent);
    case Step::remove_namespace:
      return without_value(remove_namespace(agent.id));
    case Step::remove_record:
      return host.records.remove(agent);
  }
  return Error{"unknown step"};
}

Result<void> apply_all(FenceHost& host, FenceRecord& record, std::span<const Step> steps,
                       const BeforeStep& before) {
  for (const auto step : steps) {
    if (before) before(step);
    if (auto done = apply(host, record, step); !done) {
      return Error{"cannot " + std::string{text(step)} + ": " + done.error().message};
    }
  }
  return {};
}

Result<void> remove_all(FenceHost& host, FenceRecord& record, const BeforeStep& before) {
  Result<void> outcome;
  for (const auto step : plan_remove()) {
    if (before) before(step);
    // The record stays until everything else is removed: it is needed to find the rest.
    if (step == Step::remove_record && !outcome) break;
    if (auto done = apply(host, record, step); !done && outcome) {
      outcome = Error{"cannot " + std::string{text(step)} + ": " + done.error().message};
    }
  }
  return outcome;
}

}  // namespace stile::netns
