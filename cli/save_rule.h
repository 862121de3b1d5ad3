// save_rule: writes allow rules into the file that contains an agent's entry.
#pragma once

#include <string>
#include <vector>

#include "cli/control_client.h"

namespace stile::cli {

// A change to a file, prepared and checked, but not yet written.
struct FileChange {
  std::string file;           // links followed
  std::string before, after;  // equal: the rules are already in the file
};

// `entry` is where the daemon says the agent's entry is. The new text is parsed as a config, and
// must mean the same as before plus these patterns.
[[nodiscard]] CommandOutcome<FileChange> plan_rules(const std::string& entry,
                                                    const std::string& agent,
                                                    const std::vector<std::string>& patterns);

// Atomic; keeps the file's owner and mode. Fails if the file has changed since it was read.
[[nodiscard]] CommandOutcome<void> write_change(const FileChange& change);

}  // namespace stile::cli
