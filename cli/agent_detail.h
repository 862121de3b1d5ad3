// agent_detail: prints everything about one agent, for people.
#pragma once

#include <string>

#include "base/json_value.h"
#include "base/terminal.h"

namespace stile::cli {

[[nodiscard]] Colour mode_colour(const std::string& mode);

// "1.0 MiB of 50.0 MiB", what is left of a budget; empty: the agent has no budget.
[[nodiscard]] std::string budget_text(const Json& agent, const char* direction);

// "90 of 100 requests, 5000 of 10000 tokens", what is left of a member of `host_budgets`.
[[nodiscard]] std::string host_budget_text(const Json& budget);

// Prints the daemon's answer to `agent`. Returns the exit status.
[[nodiscard]] int print_agent(const Json& answer, const Terminal& terminal);

}  // namespace stile::cli
