// The table of the subcommands of `stile`, and the two that describe the program itself.
#include "cli/command_list.h"

#include <iostream>
#include <memory>

namespace stile::cli {

std::vector<AddCommand*> commands() {
  return {add_status,       add_agents,    add_connections,  add_secrets, add_tail,   add_explain,
          add_asks,         add_approve,   add_refuse,       add_allow,   add_revoke, add_mode,
          add_budget,       add_put_agent, add_remove_agent, add_reload,  add_rotate, add_drain,
          add_doctor,       add_check,     add_diff,         add_suggest, add_audit,  add_init,
          add_import_squid, add_run,       add_profile,      add_can,     add_ca,     add_notify,
          add_web,          add_spawn,     add_workers,      add_stop,    add_send,   add_logs,
          add_mcp,          add_fleet,     add_help,         add_version};
}

// `help` is read as `--help` before parsing; this entry only adds it to the list of commands.
void add_help(Command& stile) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto command = stile.add("help", "show the arguments and examples of a command");
  command.words("COMMAND", *words, "which one (default: a list of all)");
  command.examples("Examples:\n  stile help\n  stile help audit show");
  command.does([words] { return fine; });
}

void add_version(Command& stile) {
  auto command = stile.add("version", "print the version of stile");
  command.examples("Example:\n  stile version");
  command.does([] {
    std::cout << "stile " STILE_VERSION "\n";
    return fine;
  });
}

}  // namespace stile::cli
