// The subcommands of `stile`, in the order of the help. A new one is a file of its own, a line here
// and a line in commands.cc.
#pragma once

#include "cli/command.h"

namespace stile::cli {

AddCommand add_check, add_audit;

void add_commands(CLI::App& app, Action& action);

}  // namespace stile::cli
