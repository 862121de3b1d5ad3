// run_command: runs a program and returns what it prints.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace stile {

// Its standard output, if it exits with 0 in time and prints at most `max_bytes`. It has no
// standard input, and shares standard error and the variables. What it leaves running in its
// process group is killed. Errors never contain what it printed.
[[nodiscard]] Result<std::string> run_command(std::vector<std::string> command,
                                              std::size_t max_bytes,
                                              std::chrono::milliseconds longest);

}  // namespace stile
