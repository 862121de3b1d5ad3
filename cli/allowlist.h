// allowlist: the smallest allowlist for what was seen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/seen.h"

namespace stile::cli {

struct SuggestedRule {
  std::string pattern;
  std::uint64_t let_through = 0;  // in mode observe too
  std::uint64_t refused = 0;
};

// One suffix that would cover several of the hosts. Never a public one, below which anybody can
// have a name.
struct SuggestedSuffix {
  std::string pattern;
  std::vector<std::string> covers;
};

struct AgentAllowlist {
  std::string agent;
  std::vector<SuggestedRule> allow;
  std::vector<SuggestedRule> allow_ip;
  std::vector<SuggestedSuffix> suffixes;
  std::vector<std::string> remarks;  // what was seen and is not suggested, and why
};

// The ports that need not stand in a pattern.
struct KnownPorts {
  std::vector<std::uint16_t> ports{443};
  std::vector<std::uint16_t> http_ports;
};

struct AllowlistOptions {
  std::function<KnownPorts(const std::string& agent)> ports_of;
  std::string agent;          // only this one; empty: all
  bool with_denied = true;    // also what was refused for want of a rule
  bool use_suffixes = false;  // put a suffix in the place of the hosts that it covers
};

// By agent. Requests of nobody's are left out: no list could allow them.
[[nodiscard]] std::vector<AgentAllowlist> make_allowlists(const Seen& seen,
                                                          const AllowlistOptions& options);

}  // namespace stile::cli
