// fence: what all agents share on the host's side.
#include "netns/fence.h"

#include "netns/inet.h"
#include "netns/link.h"
#include "netns/namespaces.h"
#include "netns/nft.h"
#include "netns/ruleset.h"
#include "netns/table_state.h"

namespace stile::netns {

namespace {

// The result of table_shape() with exactly our text loaded, which happens briefly in an empty
// network namespace. So the versions of nftables and of the kernel do not matter.
Result<std::string> expected_shape(const config::NetnsSettings& settings) {
  const auto visit = NamespaceVisit::enter_new();
  if (!visit) return visit.error();
  if (const auto done = run_nft(empty_table(settings)); !done) return done.error();
  auto netfilter = Netlink::open(NETLINK_NETFILTER);
  if (!netfilter) return netfilter.error();
  return table_shape(*netfilter);
}

Result<bool> is_table_whole(FenceHost& host) {
  const auto shape = table_shape(host.netfilter);
  if (!shape) return shape.error();
  const auto expected = expected_shape(host.setup.netns);
  if (!expected) return expected.error();
  return *shape == *expected;
}

}  // namespace

Result<FenceState> inspect_fence(FenceHost& host) {
  const auto& settings = host.setup.netns;
  const auto gateway = has_address(host.route, loopback_index, settings.gateway);
  if (!gateway) return gateway.error();
  const auto unreachable = has_unreachable(host.route, settings.subnet);
  if (!unreachable) return unreachable.error();
  const auto table = is_table_whole(host);
  if (!table) return table.error();
  auto capture = settings.capture ? has_local_route(host.route, settings.capture_subnet) : true;
  if (!capture) return capture.error();
  return FenceState{*gateway, *unreachable, *capture, *table};
}

Result<std::vector<std::string>> raise_fence(FenceHost& host) {
  const auto& settings = host.setup.netns;
  std::vector<std::string> done;
  const auto has_table = is_table_whole(host);
  if (!has_table) return has_table.error();
  if (!*has_table) {
    const auto records = host.records.all();
    if (!records) return records.error();
    std::vector<Agent> agents;
    for (const auto& record : *records) {
      if (record.is_complete) agents.push_back(record.agent);
    }
    if (auto loaded = run_nft(whole_table(settings, agents)); !loaded) return loaded.error();
    done.push_back("loaded the table inet stile");
  }
  // Added without a look-up: with a thousand agents there are a thousand routes to read.
  const auto has_new_route = add_unreachable(host.route, settings.subnet);
  if (!has_new_route) return has_new_route.error();
  if (*has_new_route) done.push_back("added the unreachable route for " + settings.subnet.text());
  const auto has_new_gateway = add_address(host.route, loopback_index, settings.gateway);
  if (!has_new_gateway) return has_new_gateway.error();
  if (*has_new_gateway) {
    // In a new network namespace, the loopback is down.
    if (auto raised = raise_link(host.route, loopback_index, false); !raised) return raised.error();
    done.push_back("added the gateway " + settings.gateway.text() + " to lo");
  }
  if (settings.capture) {
    const auto has_new_capture = add_local_route(host.route, settings.capture_subnet);
    if (!has_new_capture) return has_new_capture.error();
    if (*has_new_capture) {
      done.push_back("added the local route for " + settings.capture_subnet.text());
    }
  }
  return done;
}

}  // namespace stile::netns
