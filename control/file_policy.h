// FilePolicy: the compiled contents of all files, without the changes made through the control
// socket.
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

// One agent from a file or from put-agent.
struct AgentEntry {
  config::AgentSettings settings;
  std::shared_ptr<const acl::AgentPolicy> policy;  // of the entry alone
  AgentIdentity identity;
};
using EntryPtr = std::shared_ptr<const AgentEntry>;
using Entries = std::map<std::string, EntryPtr>;

struct FilePolicy {
  config::Loaded loaded;
  config::SharedParts shared;  // for agents that are compiled later
  Entries entries;             // of stile.toml and of the cards
  [[nodiscard]] bool opens_tunnels() const;
};
using FilePolicyPtr = std::unique_ptr<FilePolicy>;

// A config that was read: its settings, and the policies compiled from it.
struct Reading {
  config::Loaded loaded;
  std::unique_ptr<config::SharedParts> shared;
  std::vector<std::shared_ptr<const acl::AgentPolicy>> agents;
};
using PolicyReader = std::function<config::Checked<Reading>(const config::FleetLayer&)>;

// Reads a stile.toml; without a path, the default one or the embedded default.
[[nodiscard]] PolicyReader config_reader(std::optional<std::string> path);

// Reads and compiles everything, with the policies of a fleet below it; can take long.
[[nodiscard]] config::Checked<FilePolicyPtr> read_file_policy(const PolicyReader& reader,
                                                              const config::FleetLayer& fleet = {});

// The same config with only the directories of cards read again. Agents whose card did not change
// keep their compiled policy.
[[nodiscard]] config::Checked<FilePolicyPtr> read_cards_again(FilePolicyPtr base);

// Refuses cards that change a key which needs a restart.
void refuse_restart_cards(FilePolicy& base, const config::RestartKeys& started);

// An agent of put-agent: parsed, checked for conflicts, and compiled.
struct CardReading {
  EntryPtr entry;                // null: refused
  config::Diagnostics problems;  // the errors if refused
  bool is_taken = false;         // refused because its id, source or listener is taken
};
[[nodiscard]] CardReading read_put_card(const PutCard& card, const config::Settings& settings,
                                        config::Claims& claims, config::SharedParts& shared);

}  // namespace stile::control
