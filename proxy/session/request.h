// Request: what is known of one request, and the audit records made from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "acl/decide.h"
#include "audit/record.h"
#include "proxy/base/timer_wheel.h"
#include "proxy/net/relay.h"
#include "proxy/session/live.h"

namespace stile::session {

// What was seen of a tunnel's ClientHello; enough to judge it again under another policy.
struct HelloSeen {
  bool was_read = false;
  acl::Reason problem = acl::Reason::none;  // not_tls, client_hello_timeout
  bool has_sni = false;
  bool names_host = false;
  bool has_ech = false;
};
[[nodiscard]] acl::Reason judge_hello(const acl::AgentPolicy& agent, const acl::Decision& decision,
                                      const HelloSeen& hello) noexcept;

struct Request {
  Request() = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  // What a grant was charged for an opening that did not happen goes back.
  ~Request() {
    if (charged && !wrote_open) charged->requests.give_back(1);
  }

  std::string method;
  acl::Scheme scheme = acl::Scheme::tunnel;
  std::string authority;  // as the agent wrote it; with :80 added where plain HTTP left it out
  std::string path;       // for the log: without the query
  std::string_view problem;  // with its head, for people; a constant of the parser
  acl::Decision decision;
  // What the decision would have been, when it lets through only because of observe mode.
  acl::Reason would_deny = acl::Reason::none;
  std::shared_ptr<const acl::AgentPolicy> judged_by;  // owns the decision's rule and grant
  std::uint64_t generation = 0;
  bool is_stale = false;  // something has run out since it was judged, under the same policy
  SteadyTime begun;
  std::optional<acl::Address> origin;
  std::vector<acl::Address> addresses;  // of the host, if the policy looks at them
  HelloSeen hello;
  std::string sni;
  std::vector<std::string> stripped;
  std::shared_ptr<acl::Lease> charged;         // the grant that this opening was counted on
  net::Meter up, down;                         // what its bytes draw on
  std::uint64_t bytes_up = 0, bytes_down = 0;  // of plain HTTP; a tunnel counts for itself
  bool wrote_open = false;
};

// What the line at the end of a request says: the same as its `open` line, or why it was cut.
struct Outcome {
  acl::Verdict verdict;
  acl::Reason reason;
};
[[nodiscard]] inline Outcome outcome_at_end(acl::Reason would_deny, acl::Reason cut) noexcept {
  if (cut != acl::Reason::none) return {acl::Verdict::deny, cut};
  if (would_deny != acl::Reason::none) return {acl::Verdict::would_deny, would_deny};
  return {acl::Verdict::allow, acl::Reason::none};
}

// The host for log and answer: canonical if it was understood, else as the agent wrote it, without
// what may be a secret (user info, a path, a query).
[[nodiscard]] std::string_view shown_host(const Request& request) noexcept;

// A record and the texts that it points to.
class RequestRecord {
 public:
  RequestRecord(audit::Event event, const Peer& peer, const Request& request);
  audit::Record record;

 private:
  std::string source_, origin_, rule_;
};

}  // namespace stile::session
