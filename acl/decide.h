// decide: the one pure function that decides every request. The steps are numbered as in
// docs/policy.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "acl/address.h"
#include "acl/decision.h"
#include "acl/host.h"
#include "acl/policy.h"

namespace stile::acl {

// Where an agent talks to Stile itself. Nothing is resolved or asked for this name.
inline constexpr std::string_view own_name = "stile.internal";

struct Query {
  const AgentPolicy* agent = nullptr;  // null: the source belongs to no agent
  bool budget_spent = false;           // its bytes_up or bytes_down are used up
  Scheme scheme = Scheme::tunnel;
  Authority authority;  // as the agent wrote it; the caller sets a missing port of plain HTTP to 80
  UnixMicros now = 0;
  // The other inputs of an ordered list.
  Address source;
  std::string_view method, path;
  const std::vector<Address>* addresses = nullptr;  // of the host, once known
  // A request in a tunnel that is opened: steps 11 and 12. Null: the tunnel itself, or plain HTTP.
  const RequestFacts* inside = nullptr;
  // When a request is judged again: the lease that it was counted on when it was opened.
  const Lease* charged = nullptr;
  // And the budget of its host that it was counted on.
  const HostUsage* counted = nullptr;
};

// The pattern or line that decided, and its place; empty: none did.
[[nodiscard]] std::string rule_text(const RuleRef& rule, const AccessRule* access_rule);

struct Decision {
  Verdict verdict = Verdict::deny;
  Reason reason = Reason::internal_error;
  Host host;                       // canonical; empty if the decision ended earlier
  std::uint16_t port = 0;          // 0 if the decision ended earlier
  std::optional<Address> literal;  // the destination is this address: no name, no lookup
  bool literal_allowed = false;    // by allow_ip: step 8 is skipped, and the hello has no SNI
  bool check_hello = true;         // step 10 applies (false: tcp:// pattern, or sni = "off")
  // Of bad-request: what is malformed; of budget-exhausted: which budget. A constant text.
  std::string_view fault;
  const HostBudget* budget = nullptr;    // count the request on this
  std::int64_t retry_after_seconds = 0;  // of budget-exhausted: when to try again; 0: unknown
  bool is_opened = false;                // Stile is an end of the tunnel's TLS
  RequestTerms terms;                    // of a request inside
  bool may_ask = false;  // refused only since no rule names it: a person may be asked
  RuleRef rule;          // the rule that allowed or denied
  // The ordered list needs the addresses of the host: decide again with them. Dial nothing before.
  bool awaits_addresses = false;
  const Grant* grant = nullptr;             // charge this grant: the policy alone would refuse
  const AccessRule* access_rule = nullptr;  // of the ordered list; others use the two below
  [[nodiscard]] bool passes() const noexcept { return verdict != Verdict::deny; }
  [[nodiscard]] std::string rule_text() const { return acl::rule_text(rule, access_rule); }
  // An ordered list can set the agent name for the log; null: use the agent's id.
  [[nodiscard]] const std::string* logged_as() const noexcept {
    return access_rule != nullptr ? &access_rule->agent : nullptr;
  }
};

// One line of an explanation. The last one states the verdict.
struct TraceStep {
  int number = 0;         // 1 … 7, 11, 12, as in the docs
  std::string_view step;  // "agent", "mode", "ip-literal", "host-syntax", "port", "host", "usage",
                          // "request", "credentials"
  std::string result;     // "pass", or the reason code
  std::string detail;     // the value that was checked, with the file and line of the rule
};
using Trace = std::vector<TraceStep>;

// Steps 1–7, and 11 and 12 for a request inside. Total: every input has an answer; the default is
// deny.
[[nodiscard]] Decision decide(const Query& query, Trace* trace = nullptr);

// Step 8 for one resolved address. `own` holds every address of this host and its listeners.
[[nodiscard]] bool may_dial(const AgentPolicy& agent, const Decision& decision,
                            const Address& address, const PrefixMap& own) noexcept;

}  // namespace stile::acl
