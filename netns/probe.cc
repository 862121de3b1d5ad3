// probe: the packets that `check` sends from inside, and how each outcome is judged.
#include "netns/probe.h"

#include <cstring>

#include "netns/ruleset.h"

namespace stile::netns {
namespace {

// Addresses for documentation (RFC 5737, RFC 3849): if a packet leaks, the next router drops it.
const acl::Address outside = acl::Address::v4(0xc0000201);         // 192.0.2.1
const acl::Address outside_source = acl::Address::v4(0xc0000207);  // 192.0.2.7
const acl::Address metadata = acl::Address::v4(0xa9fea9fe);        // 169.254.169.254
const acl::Address loopback = acl::Address::v4(0x7f000001);
const acl::Address everybody = acl::Address::v4(0xffffffff);
const acl::Address mdns = acl::Address::v4(0xe00000fb);  // 224.0.0.251
const acl::Address link_local6 =
    acl::Address::v6({0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7});
const acl::Address all_nodes6 =
    acl::Address::v6({0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
const acl::Address outside6 =
    acl::Address::v6({0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});

constexpr Mac broadcast_mac{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
constexpr Mac mdns_mac{0x01, 0x00, 0x5e, 0x00, 0x00, 0xfb};
constexpr Mac all_nodes_mac{0x33, 0x33, 0, 0, 0, 1};

class List {
 public:
  List(const Targets& targets, std::uint64_t run) : targets_{targets}, run_{run} {}

  void add(std::string name, const acl::Address& to, std::uint8_t protocol, std::uint16_t port,
           Expected expected = Expected::refused) {
    add_from(std::move(name), targets_.agent.address, to, protocol, port, expected);
  }
  void add_from(std::string name, const acl::Address& from, const acl::Address& to,
                std::uint8_t protocol, std::uint16_t port, Expected expected = Expected::refused) {
    add_frame(std::move(name), expected,
              make_packet({inner(), mac_for(to), from, to}, protocol, port, next_token()));
  }
  void add_arp(std::string name, const acl::Address& to) {
    add_frame(std::move(name), Expected::ignored,
              make_arp_request({inner(), {}, targets_.agent.address, to}, next_token()));
  }
  std::vector<Probe> take() { return std::move(probes_); }

 private:
  void add_frame(std::string name, Expected expected, std::string frame) {
    probes_.push_back({std::move(name), expected, std::move(frame)});
  }
  [[nodiscard]] Token next_token() const { return token_of(run_, probes_.size()); }
  [[nodiscard]] Mac inner() const { return agent_mac(targets_.agent.address); }
  [[nodiscard]] Mac mac_for(const acl::Address& to) const {
    if (to == everybody) return broadcast_mac;
    if (to == mdns) return mdns_mac;
    if (to == all_nodes6) return all_nodes_mac;
    return host_mac(targets_.agent.address);
  }

  const Targets& targets_;
  std::uint64_t run_;
  std::vector<Probe> probes_;
};

// An address of the capture subnet stands for something only for the agent itself, and only over
// TCP. The port behind it is not for anybody.
void add_capture_probes(const config::NetnsSettings& settings, const Targets& targets, List& list) {
  const acl::Address& gateway = settings.gateway;
  const acl::Address stand_in = acl::Address::v4(settings.capture_subnet.last().v4_value() - 1);
  const auto expected =
      is_captured(settings, targets.agent) ? Expected::captured : Expected::refused;
  list.add("capture-tcp-443", stand_in, protocol_tcp, 443, expected);
  list.add("capture-tcp-open-port", stand_in, protocol_tcp, targets.open_port, expected);
  list.add("capture-udp-443", stand_in, protocol_udp, 443);
  list.add("capture-icmp", stand_in, protocol_icmp, 0);
  list.add("capture-listener", gateway, protocol_tcp, settings.capture_port());
  list.add("capture-listener-udp", gateway, protocol_udp, settings.capture_port());
  if (targets.host) list.add("dns-host-udp-53", *targets.host, protocol_udp, 53);
  list.add_from("capture-as-other-agent", targets.other_agent, stand_in, protocol_tcp, 443);
  list.add_from("dns-as-other-agent", targets.other_agent, gateway, protocol_udp, 53);
  list.add_from("dns-as-outsider", outside_source, gateway, protocol_udp, 53);
}

}  // namespace

std::string_view text(Expected expected) noexcept {
  switch (expected) {
    case Expected::passes:
      return "passes";
    case Expected::refused:
      return "refused";
    case Expected::ignored:
      return "ignored";
    case Expected::captured:
      return "captured";
  }
  return "";
}

std::vector<Probe> make_probes(const config::NetnsSettings& settings, const Targets& targets,
                               std::uint64_t run) {
  const auto& gateway = settings.gateway;
  List list{targets, run};
  list.add("proxy-port", gateway, protocol_tcp, settings.port, Expected::passes);
  list.add("raw-address-tcp-443", outside, protocol_tcp, 443);
  list.add("raw-address-udp-443", outside, protocol_udp, 443);
  list.add("raw-address-icmp", outside, protocol_icmp, 0);
  list.add("dns-outside-udp-53", outside, protocol_udp, 53);
  const bool has_names = is_captured(settings, targets.agent);
  const auto names = has_names ? Expected::captured : Expected::refused;
  list.add("dns-gateway-udp-53", gateway, protocol_udp, 53, names);
  list.add("dns-gateway-tcp-53", gateway, protocol_tcp, 53, names);
  list.add("metadata-tcp-80", metadata, protocol_tcp, 80);
  list.add("gateway-other-port", gateway, protocol_tcp, targets.open_port);
  list.add("gateway-proxy-port-udp", gateway, protocol_udp, settings.port);
  list.add("gateway-icmp", gateway, protocol_icmp, 0);
  list.add("gateway-sctp", gateway, protocol_sctp, settings.port);
  list.add("host-loopback", loopback, protocol_tcp, targets.open_port);
  if (targets.host) list.add("host-address", *targets.host, protocol_tcp, targets.open_port);
  list.add("other-agent-tcp", targets.other_agent, protocol_tcp, targets.open_port);
  list.add("other-agent-icmp", targets.other_agent, protocol_icmp, 0);
  list.add_from("as-other-agent", targets.other_agent, gateway, protocol_tcp, settings.port);
  list.add_from("as-outsider", outside_source, gateway, protocol_tcp, settings.port);
  list.add_from("as-gateway", gateway, gateway, protocol_tcp, settings.port);
  if (settings.capture) add_capture_probes(settings, targets, list);
  list.add("broadcast-udp", everybody, protocol_udp, 67);
  list.add("multicast-udp", mdns, protocol_udp, 5353);
  list.add_from("ipv6-link-local", link_local6, all_nodes6, protocol_udp, 5353, Expected::ignored);
  list.add_from("ipv6-icmp", link_local6, all_nodes6, protocol_icmp, 0, Expected::ignored);
  list.add_from("ipv6-outside", link_local6, outside6, protocol_tcp, 443, Expected::ignored);
  list.add_arp("arp-gateway", gateway);
  return list.take();
}

Token token_of(std::uint64_t run, std::uint64_t number) {
  Token token{};
  std::memcpy(token.data(), &run, sizeof run);
  std::memcpy(token.data() + sizeof run, &number, sizeof number);
  return token;
}

std::optional<std::uint64_t> find_token(std::string_view bytes, std::uint64_t run) {
  const std::string_view prefix{reinterpret_cast<const char*>(&run), sizeof run};
  const auto at = bytes.find(prefix);
  std::uint64_t number = 0;
  if (at == std::string_view::npos || bytes.size() < at + sizeof run + sizeof number) {
    return std::nullopt;
  }
  std::memcpy(&number, bytes.data() + at + sizeof run, sizeof number);
  return number;
}

ProbeVerdict judge(Expected expected, const Facts& facts) {
  const bool may_reach = expected == Expected::passes || expected == Expected::captured;
  if (!facts.not_sent.empty()) return {"not sent: " + facts.not_sent, false};
  if (!facts.left_through.empty()) return {"left through " + facts.left_through, false};
  if (facts.has_reached && may_reach && facts.is_passed) return {std::string{text(expected)}, true};
  if (facts.has_reached) return {"reached the host", may_reach && facts.is_passed};
  if (facts.was_answered) return {"was answered", false};
  if (expected == Expected::captured && facts.is_refused) {
    return {"refused: the daemon does not capture", true};
  }
  if (facts.is_passed && may_reach) return {"dropped by another rule of the host", false};
  if (facts.is_refused) return {"refused", !may_reach};
  if (!facts.has_arrived) return {"did not arrive", false};
  if (expected == Expected::ignored) return {"ignored", true};
  return {"not counted", false};
}

}  // namespace stile::netns
