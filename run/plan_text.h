// What a command sees and is allowed, as text: for --dry-run and for the log.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "confine/plan.h"
#include "run/launch.h"

namespace stile::run {

// Values of variables are not printed: they may be secrets.
void print_plan(const Launch& launch, const confine::View& view, std::ostream& out);

// The policy without what is a default; one line for each key.
[[nodiscard]] std::vector<std::string> policy_lines(const Launch& launch);

}  // namespace stile::run
