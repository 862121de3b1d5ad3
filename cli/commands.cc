// The table of the subcommands of `stile`.
#include "cli/commands.h"

namespace stile::cli {
namespace {

constexpr AddCommand* table[] = {
    add_check,
    add_audit,
};

}  // namespace

void add_commands(CLI::App& app, Action& action) {
  for (const auto& add : table) add(app, action);
}

}  // namespace stile::cli
