// save_rule: writes allow rules into the file that an agent's entry stands in.
#pragma once

#include <string>
#include <vector>

#include "cli/control_client.h"

namespace stile::cli {

// A change to a file that was read, made and checked, and not yet written.
struct FileChange {
  std::string file;           // links followed
  std::string before, after;  // the same: the rules are in it already
};

// `entry` is where the daemon says the agent stands. The new text is read like a config, and must
// mean the same as before, with these patterns in addition.
[[nodiscard]] Outcome<FileChange> plan_rules(const std::string& entry, const std::string& agent,
                                             const std::vector<std::string>& patterns);

// In one step, with the owner and the mode that the file had. Fails if it changed since.
[[nodiscard]] Outcome<void> write_change(const FileChange& change);

}  // namespace stile::cli
