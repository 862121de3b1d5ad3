// The table of the subcommands of `stile`.
#include "cli/commands.h"

namespace stile::cli {
namespace {

constexpr AddCommand* table[] = {
    add_status,       add_agents,  add_connections, add_tail,         add_explain,
    add_allow,        add_revoke,  add_mode,        add_budget,       add_put_agent,
    add_remove_agent, add_reload,  add_rotate,      add_drain,        add_check,
    add_diff,         add_suggest, add_audit,       add_import_squid, add_run,
};

}  // namespace

void add_commands(CLI::App& app, Action& action) {
  for (const auto& add : table) add(app, action);
}

}  // namespace stile::cli
