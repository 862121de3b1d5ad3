// stile reload, rotate, drain: commands for the daemon itself.
#include <iostream>
#include <memory>

#include "base/table.h"
#include "cli/command_list.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

int print_reload(const Json& answer, const Terminal& terminal) {
  std::cout << "policy " << number_of(answer, "generation") << " is in force\n";
  Table table{{{"AGENT"}, {"RULES ADDED", Fit::number}, {"REMOVED", Fit::number}}};
  for (const Json& change : list_of(answer, "changed")) {
    table.add({text_of(change, "agent"), text_of(change, "added"), text_of(change, "removed")});
  }
  table.print_or(std::cout, terminal, "no agent's rules have changed");
  print_rejected_cards(answer, terminal);
  return fine;
}

struct Simple {
  const char* name;
  const char* help;
  const char* footer;
  const char* done;
};

void add_simple(Command& stile, const Simple& simple) {
  auto options = std::make_shared<ControlOptions>();
  auto command = stile.add(simple.name, simple.help);
  add_control_options(command, *options);
  command.examples(simple.footer);
  command.does([options, simple] {
    return ask(*options, Access::change, {{"action", simple.name}},
               [&](const Json&, const Terminal&) {
                 std::cout << simple.done << '\n';
                 return fine;
               });
  });
}

}  // namespace

void add_reload(Command& stile) {
  auto options = std::make_shared<ControlOptions>();
  auto command = stile.add("reload", "read the config again, all or nothing");
  add_control_options(command, *options);
  command.examples(
      "Example:\n  stile check && stile diff && stile reload\n"
      "A config with an error changes nothing. Only what the new policy refuses is closed.");
  command.does([options] {
    return ask(*options, Access::change, {{"action", "reload"}}, print_reload);
  });
}

void add_rotate(Command& stile) {
  add_simple(stile, {"rotate", "reopen the audit log, after it was moved away",
                     "Example:\n  mv audit.jsonl audit.jsonl.1 && stile rotate",
                     "the audit log was reopened"});
}

void add_drain(Command& stile) {
  add_simple(
      stile,
      {"drain", "refuse new requests, let open connections end, then stop",
       "Example:\n  stile drain && systemctl restart stiled\n"
       "SIGTERM, which systemctl sends, drains too: the first one waits for what is open, a\n"
       "second one ends at once. `stile status` shows how long it may still take.",
       "draining: new requests are refused; the daemon ends with the last connection, or "
       "after limits.drain_timeout_ms"});
}

}  // namespace stile::cli
