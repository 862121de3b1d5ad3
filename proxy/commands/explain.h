// explain: how a request would be decided, step by step, without making it.
#pragma once

#include <string>
#include <vector>

#include "acl/decide.h"
#include "control/protocol.h"
#include "control/request.h"

namespace stile::commands {

struct Explanation {
  acl::Decision decision;
  acl::Trace steps;                               // 1–7; 8–10 as far as they were run
  std::shared_ptr<const acl::AgentPolicy> agent;  // owns what the decision points to; may be null
  // The name to look up for step 8; empty: no lookup is needed.
  std::string name;
};

// Calls the same function as a live request, with the agent's current counters.
[[nodiscard]] control::Outcome<Explanation> explain(const acl::Snapshot& snapshot,
                                                    const control::ControlRequest& request,
                                                    UnixMicros now);

// Step 8 with the addresses of the name; empty: it has none.
void explain_addresses(Explanation& explanation, const std::vector<acl::Address>& addresses,
                       const acl::PrefixMap& own);

// The audit log is failing: an allowed request is refused, and nothing is looked up.
void explain_failing_log(Explanation& explanation, std::string problem);

// What the client will have to send in step 10. Nothing is sent for an explanation, so it is
// unknown whether it will.
[[nodiscard]] std::string hello_detail(const Explanation& explanation);

}  // namespace stile::commands
