// allowlist: the smallest allowlist that covers the requests in a log.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "acl/look_alike.h"
#include "cli/needed_requests.h"
#include "cli/seen.h"

namespace stile::cli {

struct SuggestedRule {
  std::string pattern;
  std::uint64_t let_through = 0;  // also in mode observe
  std::uint64_t refused = 0;
  std::string looks_like{};  // an allowed name that it may imitate; empty: none
};

// One suffix that would cover several of the hosts. Never a public suffix: anyone can register a
// name below it.
struct SuggestedSuffix {
  std::string pattern;
  std::vector<std::string> covers;
};

struct AgentAllowlist {
  std::string agent;
  std::vector<SuggestedRule> allow;
  std::vector<SuggestedRule> allow_ip;
  SuggestedRequests inside;  // for hosts that were opened, instead of their bare names
  std::vector<SuggestedSuffix> suffixes;
  std::vector<std::string> remarks;  // what was seen but is not suggested, and why
};

// The ports that a pattern need not name.
struct KnownPorts {
  std::vector<std::uint16_t> ports{443};
  std::vector<std::uint16_t> http_ports;
};

struct AllowlistOptions {
  std::function<KnownPorts(const std::string& agent)> ports_of;
  std::string agent;          // only this agent; empty: all
  bool with_denied = true;    // also requests that were refused because no rule matched
  bool use_suffixes = false;  // replace hosts by a suffix that covers them
  // Imitations of names that the config allows; none or null: only those that the log shows as
  // allowed are compared.
  std::function<const acl::LookAlikes*(const std::string& agent)> look_alikes_of = {};
  const config::Capabilities* capabilities = nullptr;  // null: none are suggested
};

// Sorted by agent. Requests without an agent are left out: no list can allow them.
[[nodiscard]] std::vector<AgentAllowlist> make_allowlists(const Seen& seen,
                                                          const AllowlistOptions& options);

}  // namespace stile::cli
