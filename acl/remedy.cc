// remedy: what would let a refused request through.
#include "acl/remedy.h"

#include <algorithm>

#include "acl/allowing_pattern.h"
#include "acl/localhost.h"
#include "acl/look_alike.h"
#include "acl/refusal_words.h"
#include "acl/rule_search.h"
#include "acl/token_request.h"
#include "base/contains.h"

namespace stile::acl {
namespace {

bool lacks_a_rule(Reason reason) {
  return reason == Reason::host_not_allowed || reason == Reason::port_not_allowed;
}

bool is_allowed_elsewhere(const AgentPolicy& agent, const HostKey& key) {
  const auto any = [](const CoveringRule&) { return true; };
  return std::any_of(agent.allow.sets.begin(), agent.allow.sets.end(),
                     [&](const auto& set) { return set->visit(key, any); });
}

}  // namespace

Remedy remedy_for(const RefusedRequest& request, const AgentPolicy* agent) {
  Remedy remedy;
  Reason reason = request.reason;
  const HostParse parsed = parse_host(request.host);
  if (agent != nullptr && parsed.kind == HostParse::Kind::name) {
    const HostKey key{parsed.host};
    const auto& ports = request.scheme == Scheme::http ? agent->http_ports : agent->ports;
    const bool is_listed = contains(ports, request.port);
    const Destination destination{key, request.scheme, request.port, is_listed};
    // A name with an underscore is malformed unless a rule names it.
    if (reason == Reason::bad_request && parsed.host.has_underscore() && request.port != 0 &&
        !rule_names_underscore(*agent, destination, {})) {
      reason = is_listed ? Reason::host_not_allowed : Reason::port_not_allowed;
    }
    if (lacks_a_rule(reason)) {
      if (const DenyMatch denied = find_deny(*agent, destination); denied.is_denied) {
        remedy.denied_by = denied.rule ? denied.rule.pattern() : "a regex that could not run";
        return remedy;
      }
      if (is_localhost(parsed.host.text()) && !reaches_loopback(*agent)) return remedy;
      if (agent->look_alikes && !is_allowed_elsewhere(*agent, key)) {
        remedy.imitated = agent->look_alikes->find(parsed.host.text());
        if (!remedy.imitated.empty()) return remedy;
      }
    }
  }
  remedy.pattern = allowing_pattern(reason, request.scheme, request.host, request.port);
  return remedy;
}

std::string cause_of(Reason reason, const Remedy& remedy, std::string_view fault) {
  const bool has_fault = reason == Reason::bad_request || reason == Reason::budget_exhausted ||
                         reason == Reason::path_not_allowed ||
                         reason == Reason::upgrade_not_allowed;
  std::string cause{has_fault && !fault.empty() ? fault : refusal_words(reason).cause};
  if (!remedy.imitated.empty()) {
    cause += ", but it looks like " + remedy.imitated + ", which is allowed";
  }
  if (!remedy.denied_by.empty()) cause += ", and a deny rule names it";
  return cause;
}

std::string_view way_out(Reason reason, std::string_view fault) noexcept {
  if (fault == batch_fault) return "send its requests one by one";
  if (fault == websocket_fault) return "send requests without a WebSocket";
  return refusal_words(reason).remedy;
}

}  // namespace stile::acl
