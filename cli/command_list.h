// The subcommands of `stile`. A new subcommand needs its own file, a name here and a line in
// commands.cc.
#pragma once

#include "cli/command.h"

namespace stile::cli {

// The state of the daemon.
AddCommand add_status, add_agents, add_connections, add_secrets, add_tail, add_explain;
// What an agent may reach now.
AddCommand add_asks, add_approve, add_refuse, add_allow, add_revoke, add_mode, add_put_agent,
    add_remove_agent, add_budget;
// The daemon itself.
AddCommand add_reload, add_rotate, add_drain, add_doctor, add_ca, add_notify, add_web;
// Without a daemon.
AddCommand add_check, add_diff, add_suggest, add_audit, add_import_squid, add_init, add_run,
    add_profile, add_can;
// Workers of stile-spawner.
AddCommand add_spawn, add_workers, add_stop, add_send, add_logs, add_mcp;
// Many hosts.
AddCommand add_fleet;
// About the program.
AddCommand add_help, add_version;

// In the order that the help shows.
[[nodiscard]] std::vector<AddCommand*> commands();

}  // namespace stile::cli
