// Checks on settings that involve several keys.
#include "config/cross_checks.h"

#include <array>
#include <string_view>
#include <vector>

#include "base/quoted.h"
#include "config/scans.h"

namespace stile::config {
namespace {

// An exception opens these ranges only address by address, because a service of the host itself or
// of another agent listens there. 0.0.0.0/8 and ::/96 are included since Linux treats 0.0.0.0 and
// :: as the host itself, and ::ffff:0:0/96 because it maps every IPv4 loopback address.
constexpr std::array<std::string_view, 6> closed_ranges{
    "0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "::/96", "::ffff:0:0/96", "fe80::/10",
};

bool overlap(const acl::Prefix& a, const acl::Prefix& b) {
  return a.contains(b.first()) || b.contains(a.first());
}

bool is_single_address(const acl::Prefix& prefix) {
  return prefix.length == (prefix.address.is_v4() ? 32 : 128);
}

void check_exceptions(const std::vector<PrivateExceptionSettings>& exceptions,
                      const NetnsSettings& netns, const Place& place, const std::string& key,
                      Diagnostics& problems) {
  for (const auto& [prefix, hosts] : exceptions) {
    constexpr auto hint = "loopback, link-local and the netns subnet open only as exact addresses";
    const bool is_single = is_single_address(prefix);
    if (!is_single && overlap(prefix, netns.subnet)) {
      problems.error(place, key, prefix.text() + " touches the netns subnet " + netns.subnet.text(),
                     hint);
      continue;
    }
    if (netns.capture && overlap(prefix, netns.capture_subnet)) {
      problems.error(place, key,
                     prefix.text() + " touches the capture subnet " + netns.capture_subnet.text(),
                     "its addresses stand for names and lead back to stiled");
      continue;
    }
    if (is_single) continue;
    for (const auto text : closed_ranges) {
      const auto range = acl::Prefix::parse(text);
      if (range && overlap(prefix, *range)) {
        problems.error(place, key, prefix.text() + " touches " + std::string{text}, hint);
        break;
      }
    }
  }
}

// A name needs an address, and an address must not stand for two things.
void check_capture(const Settings& settings, Diagnostics& problems) {
  constexpr unsigned longest_prefix = 24;
  const NetnsSettings& netns = settings.netns;
  if (!netns.capture) return;
  const auto place = place_of(settings.file, settings.keys, "netns", "capture_subnet");
  const auto refuse = [&](std::string problem) {
    problems.error(place, "netns.capture_subnet", std::move(problem));
  };
  if (netns.capture_subnet.length > longest_prefix) {
    refuse(netns.capture_subnet.text() + " is too small; it needs a /24 or larger");
  }
  if (overlap(netns.capture_subnet, netns.subnet)) {
    refuse(netns.capture_subnet.text() + " overlaps the agents' subnet " + netns.subnet.text());
  }
  if (netns.port == 65535) {
    problems.error(place_of(settings.file, settings.keys, "netns", "port"), "netns.port",
                   "capture needs the port above it, and 65535 is the last one");
  }
}

}  // namespace

void Claims::claim_server(const Settings& settings, Diagnostics& problems) {
  const auto& server = settings.server;
  if (server.metrics) listeners_.emplace(server.metrics->text(), "server.metrics");
  for (const auto& endpoint : server.listen) {
    const auto [other, is_new] = listeners_.emplace(endpoint.text(), "server.listen");
    if (is_new) continue;
    problems.error(place_of(settings.file, settings.keys, "server", "listen"), "server.listen",
                   endpoint.text() + " is taken by " + other->second);
  }
}

bool Claims::claim(const AgentSettings& agent, Diagnostics& problems) {
  bool is_free = true;
  const auto refuse = [&](std::string_view key, std::string problem, std::string hint = {}) {
    problems.error(place_of(agent.place.file, agent.keys, "agent", key),
                   "agent." + std::string{key}, std::move(problem), std::move(hint));
    is_free = false;
  };
  // An id that could not be read is already reported.
  if (const auto other = ids_.find(agent.id); other != ids_.end() && !agent.id.empty()) {
    const auto& place = other->second;
    const auto line = place.line > 0 ? ':' + std::to_string(place.line) : "";
    refuse("id", in_quotes(agent.id) + " is taken", "the other one is in " + place.file + line);
  }
  for (const auto& source : agent.source) {
    if (const auto other = sources_.find(source); other != sources_.end()) {
      refuse("source", source.text() + " is taken by agent " + other->second);
    }
  }
  for (const auto& endpoint : agent.listen) {
    if (const auto other = listeners_.find(endpoint.text()); other != listeners_.end()) {
      refuse("listen", endpoint.text() + " is taken by " + other->second);
    }
  }
  if (!is_free) return false;
  ids_.emplace(agent.id, agent.place);
  for (const auto& source : agent.source) sources_.emplace(source, agent.id);
  for (const auto& endpoint : agent.listen) {
    listeners_.emplace(endpoint.text(), "agent " + agent.id);
  }
  return true;
}

void Claims::release(const AgentSettings& agent) {
  ids_.erase(agent.id);
  for (const auto& source : agent.source) sources_.erase(source);
  for (const auto& endpoint : agent.listen) listeners_.erase(endpoint.text());
}

void check_settings(const Settings& settings, Diagnostics& problems) {
  const auto place = [&](std::string_view section, std::string_view name) {
    return place_of(settings.file, settings.keys, section, name);
  };
  check_exceptions(settings.egress.private_exceptions, settings.netns,
                   place("egress", "private_exceptions"), "egress.private_exceptions", problems);
  if (!settings.netns.subnet.contains(settings.netns.gateway)) {
    const bool has_gateway = place("netns", "gateway").line > 0;
    problems.error(
        place("netns", has_gateway ? "gateway" : "subnet"), "netns.gateway",
        settings.netns.gateway.text() + " is not in the subnet " + settings.netns.subnet.text());
  }
  check_capture(settings, problems);
  check_secrets(settings, problems);
  check_scans(settings, problems);
  for (const auto& agent : settings.agent) check_agent(agent, settings.netns, problems);
}

void check_agent(const AgentSettings& agent, const NetnsSettings& netns, Diagnostics& problems) {
  if (!agent.private_exceptions) return;
  check_exceptions(*agent.private_exceptions, netns,
                   place_of(agent.place.file, agent.keys, "agent", "private_exceptions"),
                   "agent.private_exceptions", problems);
}

}  // namespace stile::config
