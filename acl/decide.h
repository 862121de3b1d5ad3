// decide: the one pure function that every request goes through. The steps are numbered as in
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

struct Query {
  const AgentPolicy* agent = nullptr;  // null: the source belongs to nobody
  bool budget_spent = false;           // its bytes_up or bytes_down are used up
  Scheme scheme = Scheme::tunnel;
  Authority authority;  // as the agent wrote it; a missing port is the caller's 80 for plain HTTP
  UnixMicros now = 0;
  // What an ordered list looks at beside these.
  Address source;
  std::string_view method, path;
  const std::vector<Address>* addresses = nullptr;  // of the host, once they are known
  // Judged again: the lease that this request was counted on when it was opened.
  const Lease* charged = nullptr;
};

struct Decision {
  Verdict verdict = Verdict::deny;
  Reason reason = Reason::internal_error;
  Host host;                       // canonical; empty if it did not get that far
  std::uint16_t port = 0;          // 0 likewise
  std::optional<Address> literal;  // the destination is this address: no name, no look-up
  bool literal_allowed = false;    // by allow_ip: step 8 is skipped, and the hello has no SNI
  bool check_hello = true;         // step 10 applies (false: tcp:// pattern, or sni = "off")
  RuleRef rule;                    // that allowed or denied
  // The ordered list needs the host's addresses: decide again with them. Until then nothing may be
  // dialled.
  bool awaits_addresses = false;
  const Grant* grant = nullptr;             // charge it: the policy alone would have refused
  const AccessRule* access_rule = nullptr;  // of the ordered list; others use the two below
  [[nodiscard]] bool passes() const noexcept { return verdict != Verdict::deny; }
  // The pattern or line that decided, and where it stands; empty: none did.
  [[nodiscard]] std::string rule_text() const;
  // An ordered list names the agent under which the request is logged; null: it is the agent's id.
  [[nodiscard]] const std::string* logged_as() const noexcept {
    return access_rule != nullptr ? &access_rule->agent : nullptr;
  }
};

// One line of an explanation. The last one states the verdict.
struct TraceStep {
  int number = 0;         // 1 … 7, as in the docs
  std::string_view step;  // "agent", "mode", "ip-literal", "host-syntax", "port", "host", "usage"
  std::string result;     // "pass", or the reason code
  std::string detail;     // what was looked at, with the file and line of the rule
};
using Trace = std::vector<TraceStep>;

// Steps 1–7. Total: every input has an answer, and an answer that nobody thought of is deny.
[[nodiscard]] Decision decide(const Query& query, Trace* trace = nullptr);

// Step 8 for one address of the answer. `own` holds every address of this host and its listeners.
[[nodiscard]] bool may_dial(const AgentPolicy& agent, const Decision& decision,
                            const Address& address, const PrefixMap& own) noexcept;

}  // namespace stile::acl
