// The table `inet stile` as text for nftables: the whole table, and the changes for one agent.
#include "netns/ruleset.h"

#include <string_view>

namespace stile::netns {
namespace {

// At raw priority, before connection tracking and before any rule of the host could accept, mark or
// redirect. Rules of other tables still see what passes here, and may refuse it.
//
// The order in `arriving` matters. Every packet of an agent ends in the first three rules. Then
// come spoofed packets: for the gateway, or with an agent's address, from any other device. `lo` is
// the host's own traffic: it may pass, but not with an agent's address.
//
// Packets that pass are not tracked: by sending from each of its ports, an agent could add sixty
// thousand connections to the single tracking table of the host.
constexpr std::string_view skeleton = R"(table inet stile {
  counter unknown_device { }
  counter foreign { }
  counter forwarded { }
  counter to_agents { }
  set agents {
    type ifname . ipv4_addr
    counter
  }
  set refused {
    type ifname
    counter
  }
  chain arriving {
    type filter hook prerouting priority raw; policy accept;
    ip daddr $GATEWAY tcp dport $PORT iifname . ip saddr @agents notrack accept
    iifname @refused drop
    iifname "stile-*" counter name unknown_device drop
    iifname "lo" ip saddr $GATEWAY accept
    iifname != "lo" ip daddr $GATEWAY counter name foreign drop
    ip saddr $SUBNET counter name foreign drop
  }
  chain answering {
    type filter hook output priority raw; policy accept;
    oifname "stile-*" ip saddr $GATEWAY tcp sport $PORT notrack
  }
  chain passing {
    type filter hook forward priority raw; policy accept;
    iifname "stile-*" counter name forwarded drop
    oifname "stile-*" counter name forwarded drop
  }
  chain leaving {
    type filter hook postrouting priority raw; policy accept;
    oifname "stile-*" ip saddr $GATEWAY tcp sport $PORT accept
    oifname "stile-*" counter name to_agents drop
  }
}
)";

void replace_all(std::string& text, std::string_view name, const std::string& value) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
    text.replace(at, name.size(), value);
  }
}

std::string pair(const std::string& device, const acl::Address& address) {
  return std::string{"inet stile "} + agents_set + " { \"" + device + "\" . " + address.text() +
         " }\n";
}

std::string single(const std::string& device) {
  return std::string{"inet stile "} + refused_set + " { \"" + device + "\" }\n";
}

}  // namespace

std::string empty_table(const config::NetnsSettings& settings) {
  std::string text{skeleton};
  replace_all(text, "$GATEWAY", settings.gateway.text());
  replace_all(text, "$PORT", std::to_string(settings.port));
  replace_all(text, "$SUBNET", settings.subnet.text());
  return text;
}

std::string whole_table(const config::NetnsSettings& settings, std::span<const Agent> agents) {
  // "add" first: deleting something that does not exist fails.
  auto text = "add table inet stile\ndelete table inet stile\n" + empty_table(settings);
  for (const auto& agent : agents) text += admit(agent);
  return text;
}

std::string admit(const Agent& agent) {
  const auto device = device_name(agent.id);
  return "add element " + single(device) + "add element " + pair(device, agent.address);
}

std::string expel_pair(const std::string& device, const acl::Address& address) {
  return "delete element " + pair(device, address);
}

std::string expel_device(const std::string& device) { return "delete element " + single(device); }

}  // namespace stile::netns
