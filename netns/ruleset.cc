// The table `inet stile` as text for nftables: the whole table, and the changes for one agent.
#include "netns/ruleset.h"

#include <array>
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
//
// With capture, connections to $CAPTURE and questions to port 53 of the gateway go to the daemon's
// transparent sockets, wherever else another process listens. If there is no such socket, the rule
// does not match, and the packet is refused like all others. Questions beyond the daemon's own rate
// end here, or those of one agent would fill the socket that all agents share.
//
// What is refused of such an agent is answered, so that its programs do not wait. Only its own
// address is answered: a forged one would make the host an amplifier. Fragments are dropped before
// the kernel puts them together, since agents could fill the memory for that.
constexpr std::string_view skeleton = R"(table inet stile {
  counter unknown_device { }
  counter foreign { }
  counter fragments { }
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
$CAPTURE_SETS  chain whole {
    type filter hook prerouting priority -450; policy accept;
    iifname "stile-*" ip frag-off & 0x3fff != 0 counter name fragments drop
  }
  chain arriving {
    type filter hook prerouting priority raw; policy accept;
    ip daddr $GATEWAY tcp dport $PORT iifname . ip saddr @agents notrack accept
$CAPTURE_ARRIVING    iifname @refused $REFUSE
    iifname "stile-*" counter name unknown_device drop
    iifname "lo" ip saddr $GATEWAY accept
    iifname != "lo" ip daddr $GATEWAY counter name foreign drop
$CAPTURE_FOREIGN    ip saddr $SUBNET counter name foreign drop
  }
  chain answering {
    type filter hook output priority raw; policy accept;
    oifname "stile-*" ip saddr $GATEWAY tcp sport $PORT notrack
$CAPTURE_ANSWERING  }
  chain passing {
    type filter hook forward priority raw; policy accept;
    iifname "stile-*" counter name forwarded drop
    oifname "stile-*" counter name forwarded drop
  }
  chain leaving {
    type filter hook postrouting priority raw; policy accept;
    oifname "stile-*" ip saddr $GATEWAY tcp sport $PORT accept
$CAPTURE_LEAVING    oifname "stile-*" counter name to_agents drop
  }
}
)";

struct Part {
  std::string_view name, text;
};
constexpr std::array<Part, 6> capture_parts{{
    {"$CAPTURE_SETS", R"(  set captured {
    type ifname . ipv4_addr
  }
  set rejections {
    type ifname
    size 65535
    flags dynamic,timeout
    timeout 1m
  }
  set questions {
    type ifname
    size 65535
    flags dynamic,timeout
    timeout 1m
  }
  chain rejecting {
    update @rejections { iifname limit rate over 100/second burst 100 packets } drop
    meta l4proto tcp reject with tcp reset
    meta l4proto udp reject with icmp type port-unreachable
    reject with icmp type admin-prohibited
  }
  chain refusing {
    iifname . ip saddr @captured jump rejecting
    drop
  }
)"},
    {"$CAPTURE_ARRIVING",
     R"(    ip daddr $CAPTURE meta l4proto tcp iifname . ip saddr @captured iifname . ip saddr @agents notrack tproxy ip to $GATEWAY:$LISTENER accept
    ip daddr $GATEWAY tcp dport 53 iifname . ip saddr @captured iifname . ip saddr @agents notrack tproxy ip to $GATEWAY:$LISTENER accept
    ip daddr $GATEWAY udp dport 53 iifname . ip saddr @captured update @questions { iifname limit rate over 1000/second burst 1000 packets } drop
    ip daddr $GATEWAY udp dport 53 iifname . ip saddr @captured iifname . ip saddr @agents notrack tproxy ip to $GATEWAY:53 accept
)"},
    {"$REFUSE", "jump refusing"},
    {"$CAPTURE_FOREIGN", R"(    iifname != "lo" ip daddr $CAPTURE counter name foreign drop
)"},
    {"$CAPTURE_ANSWERING", R"(    oifname . ip daddr @captured notrack
)"},
    {"$CAPTURE_LEAVING",
     R"(    oifname . ip daddr @captured ip saddr $CAPTURE meta l4proto tcp accept
    oifname . ip daddr @captured ip saddr $GATEWAY tcp sport 53 accept
    oifname . ip daddr @captured ip saddr $GATEWAY udp sport 53 accept
    oifname . ip daddr @captured tcp flags & rst == rst accept
    oifname . ip daddr @captured icmp type destination-unreachable accept
)"},
}};

void replace_all(std::string& text, std::string_view name, const std::string& value) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
    text.replace(at, name.size(), value);
  }
}

std::string pair(const char* set, const std::string& device, const acl::Address& address) {
  return std::string{"inet stile "} + set + " { \"" + device + "\" . " + address.text() + " }\n";
}

std::string single(const std::string& device) {
  return std::string{"inet stile "} + refused_set + " { \"" + device + "\" }\n";
}

}  // namespace

std::string empty_table(const config::NetnsSettings& settings) {
  std::string text{skeleton};
  for (const auto& [name, part] : capture_parts) {
    const std::string without{name == "$REFUSE" ? "drop" : ""};
    replace_all(text, name, settings.capture ? std::string{part} : without);
  }
  replace_all(text, "$CAPTURE", settings.capture_subnet.text());
  replace_all(text, "$LISTENER", std::to_string(settings.capture_port()));
  replace_all(text, "$GATEWAY", settings.gateway.text());
  replace_all(text, "$PORT", std::to_string(settings.port));
  replace_all(text, "$SUBNET", settings.subnet.text());
  return text;
}

std::string whole_table(const config::NetnsSettings& settings, std::span<const Agent> agents) {
  // "add" first: deleting something that does not exist fails.
  auto text = "add table inet stile\ndelete table inet stile\n" + empty_table(settings);
  for (const auto& agent : agents) text += admit(settings, agent);
  return text;
}

std::string admit(const config::NetnsSettings& settings, const Agent& agent) {
  const auto device = device_name(agent.id);
  auto text =
      "add element " + single(device) + "add element " + pair(agents_set, device, agent.address);
  if (is_captured(settings, agent)) {
    text += "add element " + pair(captured_set, device, agent.address);
  }
  return text;
}

bool is_captured(const config::NetnsSettings& settings, const Agent& agent) noexcept {
  return settings.capture && agent.is_captured;
}

std::string expel_pair(const std::string& device, const acl::Address& address) {
  return "delete element " + pair(agents_set, device, address);
}

std::string expel_captured(const std::string& device, const acl::Address& address) {
  return "delete element " + pair(captured_set, device, address);
}

std::string expel_device(const std::string& device) { return "delete element " + single(device); }

}  // namespace stile::netns
