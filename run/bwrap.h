// bwrap: bubblewrap around the command, for the files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "acl/result.h"
#include "run/hidden.h"

namespace stile::run {

// The command line that runs `command` with the workspace writable, homes and temporary directories
// empty, exposed paths and everything else read-only.
[[nodiscard]] Result<std::vector<std::string>> bwrap_command(
    const std::vector<std::string>& command, const Hidden& hidden, const std::string& workspace,
    const std::string& home);

// Runs that command line: `become` turns a child into it. The status is the command's, or
// own_failure if bubblewrap did not get as far as running it. Signals go to the command itself.
[[nodiscard]] int run_bwrap(const std::function<int()>& become);

}  // namespace stile::run
