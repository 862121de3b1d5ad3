// The table `inet stile` as text for nftables: the whole of it, and what one agent adds to it.
#include "netns/ruleset.h"

#include <string_view>

namespace stile::netns {
namespace {

// At raw priority, before connection tracking and before any rule of the host could accept, mark or
// redirect. Rules of other tables still see what is let through here, and may refuse it.
//
// The order in `arriving` matters. A packet of an agent ends in the first three rules, whatever it
// is. Then comes what pretends: packets for the gateway, or with an agent's address, that arrive
// from somewhere else. `lo` is the host talking to itself: it may, but not as an agent.
//
// What passes is not tracked: with a packet from each of its ports, an agent would put sixty
// thousand connections into the one table that the whole host has for them.
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
  // "add" first: what is not there cannot be deleted.
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
