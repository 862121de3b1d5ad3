// SavedState: the contents of the state directory, and their text form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/fleet_layer.h"
#include "control/ask_book.h"
#include "control/overlay.h"

namespace stile::control {

// What was used of one [[agent.budget]].
struct SavedHostUsage {
  std::string host;
  std::uint64_t requests = 0, tokens = 0;
  acl::MinuteCount::Saved minute;
};

struct SavedAgent {
  std::string id;
  AgentIdentity identity;  // of the agent that the rest belongs to
  AgentOverlay overlay;
  // Budget usage. At least what was used: recorded before the bytes flow, see budget_ledger.h.
  std::uint64_t used_up = 0, used_down = 0;
  std::vector<SavedHostUsage> hosts;
};

struct SavedAsk {
  Ask ask;
  AgentIdentity identity;  // of the agent that asked
};

struct SavedState {
  static constexpr int version = 1;
  std::optional<acl::Mode> mode;
  std::uint64_t audit_seq = 0;  // the last known line of the audit log
  std::string audit_hash;
  std::vector<PutCard> cards;
  std::vector<SavedAgent> agents;
  std::vector<SavedAsk> asks;
  config::FleetState fleet;  // in a file of its own
};

// One JSON object, readable by people.
[[nodiscard]] std::string state_text(const SavedState& state);

// Strict: another version, an unknown key or an invalid value is an error, since the file may
// contain a deny. Grants are restored with what is left of them.
[[nodiscard]] Result<SavedState> parse_state(std::string_view text, const std::string& file);

}  // namespace stile::control
