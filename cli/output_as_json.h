// said: prints a command's output as JSON for programs.
#pragma once

#include <functional>
#include <ostream>

namespace stile::cli {

// Runs `tell` with both streams and prints {"ok", "said": [lines], "problems": [lines]}. Returns
// the exit status of `tell`.
[[nodiscard]] int print_as_json(
    const std::function<int(std::ostream& out, std::ostream& err)>& tell);

}  // namespace stile::cli
