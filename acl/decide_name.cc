// decide_name: may an agent reach a name at all, on some port and in some way?
#include "acl/decide_name.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "acl/rule_search.h"
#include "base/contains.h"

namespace stile::acl {
namespace {

constexpr std::uint16_t https_port = 443, http_port = 80;

// Tries one port after the other until a request to one of them passes.
class Attempt {
 public:
  Attempt(const AgentPolicy* agent, std::string_view name, const Address& source,
          UnixMicros now) noexcept {
    query_.agent = agent;
    query_.authority.host = name;
    query_.authority.has_port = true;
    query_.source = source;
    query_.now = now;
  }

  // True: it passes, or no other port can change the answer.
  bool ask(Scheme scheme, std::uint16_t port) {
    std::array<char, 5> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), port).ptr;
    query_.scheme = scheme;
    query_.authority.port = {digits.data(), static_cast<std::size_t>(end - digits.data())};
    const Decision now = decide(query_);
    // A denied name is the better reason than a port that is not listed.
    const bool is_first = !has_asked_ || now.passes() || now.reason == Reason::host_denied;
    if (is_first) decision = now;
    has_asked_ = true;
    switch (now.reason) {
      case Reason::port_not_allowed:
      case Reason::host_not_allowed:
      case Reason::host_denied:
        return now.passes();
      default:
        return true;
    }
  }

  Decision decision;

 private:
  Query query_;
  bool has_asked_ = false;
};

}  // namespace

Decision decide_name(const AgentPolicy* agent, std::string_view name, const Address& source,
                     UnixMicros now) {
  Attempt attempt{agent, name, source, now};
  const std::uint16_t first =
      agent == nullptr || agent->ports.empty() ? https_port : agent->ports.front();
  if (attempt.ask(Scheme::tunnel, first)) return attempt.decision;
  Decision& decision = attempt.decision;
  if (agent->access) {
    decision.verdict = Verdict::allow;
    decision.reason = Reason::none;
    return decision;
  }
  const auto ask_tunnel = [&](std::uint16_t port) { return attempt.ask(Scheme::tunnel, port); };
  const auto ask_http = [&](std::uint16_t port) { return attempt.ask(Scheme::http, port); };
  const bool passes = std::any_of(agent->ports.begin(), agent->ports.end(), ask_tunnel) ||
                      std::any_of(agent->http_ports.begin(), agent->http_ports.end(), ask_http) ||
                      visit_carried_ports(*agent, HostKey{decision.host}, {now, nullptr},
                                          [&](Scheme scheme, std::uint16_t port) {
                                            return attempt.ask(scheme, port);
                                          });
  if (decision.may_ask) {
    // The connection is what a person is asked about: it must be able to come.
    decision.verdict = Verdict::allow;
    decision.reason = Reason::none;
  }
  if (!passes && decision.reason == Reason::port_not_allowed) {
    decision.reason = Reason::host_not_allowed;  // no port would do
  }
  decision.port = 0;
  return decision;
}

bool speaks_http(const AgentPolicy& agent, const Host& host, std::uint16_t port, UnixMicros now) {
  if (contains(agent.http_ports, port)) return true;
  if (contains(agent.ports, port)) return false;
  bool is_tunnel = false;
  const bool is_http =
      !agent.access && visit_carried_ports(agent, HostKey{host}, {now, nullptr},
                                           [&](Scheme scheme, std::uint16_t carried) {
                                             if (carried != port) return false;
                                             is_tunnel = is_tunnel || scheme == Scheme::tunnel;
                                             return scheme == Scheme::http;
                                           });
  if (is_http || is_tunnel) return is_http;
  return agent.mode == Mode::observe && port == http_port;
}

}  // namespace stile::acl
