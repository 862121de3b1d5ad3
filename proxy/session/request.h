// Request: the state of one request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acl/hello.h"
#include "acl/host_budget.h"
#include "proxy/base/timer_wheel.h"
#include "proxy/net/relay.h"
#include "proxy/session/ask_board.h"

namespace stile::session {

// Of an audit line.
struct LineTexts {
  std::string source, origin, rule;
};

struct Request {
  Request() = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  // Returns what a grant or the host's budget was charged for an opening that did not happen.
  ~Request() {
    if (charged && !wrote_open) charged->requests.give_back(1);
    if (wrote_open) counted.keep();
  }

  std::string method;
  acl::Scheme scheme = acl::Scheme::tunnel;
  std::string authority;   // as the agent wrote it; with :80 added if plain HTTP omits the port
  std::string path;        // for the log: without the query
  std::string query;       // never logged
  bool is_inside = false;  // a tunnel that is opened: https
  // What steps 11 and 12 judge; its views point here and into the head.
  std::optional<acl::RequestFacts> facts;
  std::vector<acl::RequestField> fields;
  std::string other_method;
  std::vector<std::string> secrets;  // names of those that were put in
  std::string scan;                  // names of the scans that found something
  std::string scan_place;            // where: "the body", "header X"
  std::string_view query_fault;      // why a GraphQL body is not one query: a constant text
  bool hides_path = false;           // what was found is in the path: it is not logged
  bool hides_method = false;         // what was found is in the method: it is not logged
  acl::Decision decision;
  AskTicket ask;                // if a person was asked about it
  std::string_view head_fault;  // of bad-request before the decision: a constant text
  std::shared_ptr<const acl::AgentPolicy> judged_by;  // owns the decision's rule and grant
  std::uint64_t generation = 0;
  std::uint64_t trust = 0;  // that its origin was verified under; 0: without TLS
  bool is_stale = false;    // something has expired since it was judged, under the same policy
  SteadyTime begun;
  std::optional<acl::Address> origin;
  std::vector<acl::Address> addresses;  // of the host, if the policy checks them
  acl::HelloFacts hello;
  bool hello_is_due = false;  // from now on the hello counts under every policy
  std::string sni;
  std::vector<std::string> stripped;
  std::shared_ptr<acl::Lease> charged;         // the grant that this opening was counted on
  acl::HostCharge counted;                     // what it took of the budget of its host
  net::Meter up, down;                         // the counters that its bytes charge
  std::uint64_t bytes_up = 0, bytes_down = 0;  // of plain HTTP; a tunnel counts for itself
  bool wrote_open = false;
  LineTexts texts;  // of its `open` line, which its `close` line repeats
  acl::Reason opened_despite = acl::Reason::none;  // as in its `open` line, in observe mode

  // What is malformed in a bad request; may be empty.
  [[nodiscard]] std::string_view fault() const noexcept {
    return head_fault.empty() ? decision.fault : head_fault;
  }
};

}  // namespace stile::session
