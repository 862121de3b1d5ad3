// Base: everything that the files say, compiled: what changes through the control socket are laid
// over.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acl/policy.h"
#include "config/compile.h"
#include "config/load.h"
#include "config/restart_keys.h"
#include "control/overlay.h"

namespace stile::control {

// One agent as a file or put-agent has it.
struct Entry {
  config::AgentSettings settings;
  std::shared_ptr<const acl::AgentPolicy> policy;  // of the entry alone
  Identity identity;
};
using EntryPtr = std::shared_ptr<const Entry>;
using Entries = std::map<std::string, EntryPtr>;

struct Base {
  config::Loaded loaded;
  config::Shared shared;  // for agents that are compiled later
  Entries entries;        // of stile.toml and of the cards
};
using BasePtr = std::unique_ptr<Base>;

// A config as it was read: its settings, and the policies made from it.
struct Reading {
  config::Loaded loaded;
  std::unique_ptr<config::Shared> shared;
  std::vector<std::shared_ptr<const acl::AgentPolicy>> agents;
};
using PolicyReader = std::function<config::Checked<Reading>()>;

// Reads a stile.toml; without a path the usual one, or the embedded default.
[[nodiscard]] PolicyReader config_reader(std::optional<std::string> path);

// Reads and compiles everything; may take long.
[[nodiscard]] config::Checked<BasePtr> read_base(const PolicyReader& reader);

// The same config with only the directories of cards read anew. Agents whose card is the same keep
// their compiled policy.
[[nodiscard]] config::Checked<BasePtr> read_cards_again(BasePtr base);

// Refuses the cards that change a key which only a restart applies.
void refuse_restart_cards(Base& base, const config::RestartKeys& started);

// An agent of put-agent: read, checked against what is taken, and compiled.
struct CardReading {
  EntryPtr entry;                // null: refused
  config::Diagnostics problems;  // then: why
  bool is_taken = false;         // and that its id, source or listener belongs to another
};
[[nodiscard]] CardReading read_put_card(const PutCard& card, const config::Settings& settings,
                                        config::Claims& claims, config::Shared& shared);

}  // namespace stile::control
