// advice: what an operator can do after a refusal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "acl/pattern.h"

namespace stile::cli {

// stile-netns writes the cards in this directory and would overwrite a change.
inline constexpr std::string_view runtime_cards = "/run/stile/agents.d/";

// A refused request. The host may be any bytes that an agent sent.
struct Refused {
  std::string_view reason;  // reason code
  std::string agent;        // empty: no agent
  acl::Scheme scheme = acl::Scheme::tunnel;
  std::string host;
  std::uint16_t port = 0;
  std::string rule;      // the rule that decided, as the log and explanations name it; may be empty
  std::string detail;    // of bad-request: what is malformed; may be empty
  std::string ask = {};  // the id of the ask that it waited for; may be empty
  std::string source = {};  // the client's address; may be empty
};

// What the daemon reports about that agent now. Empty if no daemon answers.
struct Situation {
  bool everybody_is_offline = false;
  bool fleet_is_offline = false;  // by the switch of the fleet, which no mode of a host undoes
  bool is_stile_run = false;      // a run that has ended: no daemon takes commands
  bool is_gone = false;           // the daemon has no such agent any more
  std::string entry;              // "put-agent", or the file of its entry, with a line in a config
  std::vector<std::string> allow, deny;  // its patterns
  std::vector<std::string> revoked;      // those of `deny` that `stile revoke` made
  std::vector<std::uint16_t> ports{443}, http_ports;
  bool has_only_allow_rules = false;  // they are all of its rules
};

struct Advice {
  std::string command;  // can be pasted into a shell; may be empty
  std::string note;     // what is not a command: a reason, a change to a file; may be empty
};

// The agent chooses the host, and the operator pastes the advice. So the advice never contains
// bytes from the agent that are special to a shell or a terminal.
[[nodiscard]] Advice advice_after(const Refused& refused, const Situation& situation);

inline constexpr std::string_view fleet_offline_note =
    "the switch of the fleet is offline, and no mode of this host can undo that; the person "
    "with the signing key can: stile fleet online --key FILE";

// The pattern of the agent's own rules that allows a host already, or denies it; empty: none does,
// or the pattern is not the name of one host.
[[nodiscard]] std::string allowing_rule(const Situation& situation, const acl::Pattern& host);
[[nodiscard]] std::string denying_rule(const Situation& situation, const acl::Pattern& host);

// "next: …" and "note: …", one line each, after `indent`; empty if there is no advice.
[[nodiscard]] std::string advice_text(const Advice& advice, std::string_view indent = {});

}  // namespace stile::cli
