// print_diff: prints the result of `stile diff`, for people and for programs.
#pragma once

#include <vector>

#include "base/json_value.h"
#include "base/terminal.h"
#include "cli/replay.h"
#include "cli/rule_diff.h"

namespace stile::cli {

// On standard output.
void print_replay(const Replay& replay, const Terminal& terminal);
void print_rule_diff(const std::vector<AgentDiff>& diffs, const Terminal& terminal);

[[nodiscard]] Json as_json(const Replay& replay);
[[nodiscard]] Json as_json(const std::vector<AgentDiff>& diffs);

}  // namespace stile::cli
