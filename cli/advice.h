// advice: what an operator does next after a refusal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "acl/pattern.h"

namespace stile::cli {

// Cards that stile-netns writes, and would write again.
inline constexpr std::string_view runtime_cards = "/run/stile/agents.d/";

// What was refused. The host may be anything that an agent sent.
struct Refused {
  std::string_view reason;  // reason code
  std::string agent;        // empty: nobody's
  acl::Scheme scheme = acl::Scheme::tunnel;
  std::string host;
  std::uint16_t port = 0;
  std::string rule;  // the rule that decided, as the log and explanations name it; may be empty
};

// What the daemon says about that agent now. Without a daemon to ask, nothing is known.
struct Situation {
  bool everybody_is_offline = false;
  bool is_stile_run = false;       // a run that has ended: there is no daemon to type to
  std::string entry;               // "put-agent", or the file of its entry, with a line in a config
  std::vector<std::string> allow;  // its patterns
  bool has_only_allow_rules = false;  // they are all of its rules
};

struct Advice {
  std::string command;  // for a shell, as it stands; may be empty
  std::string note;     // what cannot be typed: a reason, a change to a file; may be empty
};

// The pattern that covers just this: "example.com", "example.com:8443", "http://example.com".
[[nodiscard]] std::string pattern_for(acl::Scheme scheme, const std::string& host,
                                      std::uint16_t port);

// No byte that an agent chose and that means something to a shell or a terminal is ever part of it:
// the agent chooses the host, and the operator pastes.
[[nodiscard]] Advice advice_after(const Refused& refused, const Situation& situation);

// "next: …" and "note: …", a line each, behind `indent`; empty if there is nothing to say.
[[nodiscard]] std::string advice_text(const Advice& advice, std::string_view indent = {});

}  // namespace stile::cli
