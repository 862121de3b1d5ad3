// judge_hello: step 10, the ClientHello that opens a tunnel.
#include "acl/hello.h"

#include "acl/rule_search.h"
#include "base/ascii.h"

namespace stile::acl {
namespace {

Reason fault_of(const AgentPolicy& agent, const HelloFacts& hello, const Decision& decision) {
  switch (hello.state) {
    case HelloFacts::State::unread:
    case HelloFacts::State::not_tls:
      return Reason::not_tls;
    case HelloFacts::State::late:
      return Reason::client_hello_timeout;
    case HelloFacts::State::read:
      break;
  }
  // Stile is the server of an opened tunnel: what only another server could read does not matter.
  if (hello.has_ech && !decision.is_opened && !allows_ech(agent, decision)) {
    return Reason::ech_refused;
  }
  // An address has no server name: a hello with one is meant for another server.
  if (decision.literal) return hello.has_sni ? Reason::sni_mismatch : Reason::none;
  if (!hello.has_sni) return Reason::sni_missing;
  return hello.names_host ? Reason::none : Reason::sni_mismatch;
}

}  // namespace

HelloFacts facts_of_hello(bool has_sni, std::string_view sni, bool has_ech,
                          const Host& asked) noexcept {
  const std::string_view name = asked.text();
  const bool names_host = has_sni && !name.empty() && equal_ignoring_case(sni, name);
  return {HelloFacts::State::read, has_sni, names_host, has_ech};
}

bool allows_ech(const AgentPolicy& agent, const Decision& decision) {
  if (agent.ech.everywhere) return true;
  if (decision.literal || agent.ech.hosts.sets.empty()) return false;
  return covers(agent.ech.hosts, HostKey{decision.host}, decision.port);
}

void judge_hello(const AgentPolicy& agent, const HelloFacts& hello, Decision& decision) {
  if (!decision.passes() || !decision.check_hello) return;
  const Reason fault = fault_of(agent, hello, decision);
  if (fault == Reason::none) return;
  // Without a hello there is nothing to open, in observe mode either.
  const bool goes_on = agent.mode == Mode::observe && !decision.is_opened;
  if (goes_on && decision.verdict == Verdict::would_deny) return;
  decision.verdict = goes_on ? Verdict::would_deny : Verdict::deny;
  decision.reason = fault;
}

}  // namespace stile::acl
