// SavedState: what the state directory remembers, and its form as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acl/result.h"
#include "control/overlay.h"

namespace stile::control {

struct SavedAgent {
  std::string id;
  Identity identity;  // of the agent that the rest is about
  AgentOverlay overlay;
  // Of its budgets. At least what flowed: on record before it does, see budget_ledger.h.
  std::uint64_t used_up = 0, used_down = 0;
};

struct SavedState {
  static constexpr int version = 1;
  std::optional<acl::Mode> mode;
  std::uint64_t audit_seq = 0;  // the last line of the audit log, as far as is known
  std::string audit_hash;
  std::vector<PutCard> cards;
  std::vector<SavedAgent> agents;
};

// One JSON object, readable by people.
[[nodiscard]] std::string state_text(const SavedState& state);

// Strict: a file of another version, with a key that is not known or a value that cannot be is an
// error, since what it says may be a deny. Grants come back with what is left of them.
[[nodiscard]] Result<SavedState> parse_state(std::string_view text, const std::string& file);

}  // namespace stile::control
