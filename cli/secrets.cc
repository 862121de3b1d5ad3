// stile secrets: lists the secrets that the daemon puts into requests, never their values.
#include <iostream>
#include <memory>

#include "base/table.h"
#include "base/units.h"
#include "cli/command_list.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

struct SecretsOptions {
  ControlOptions control;
};

int print_secrets(const Json& answer, const Terminal& terminal) {
  Table table{{{"SECRET", Fit::cut_end},
               {"HOSTS", Fit::cut_end, 1},
               {"AGENTS", Fit::cut_end, 2},
               {"FROM", Fit::whole, 3},
               {"AGE", Fit::number, 1},
               {"LAST USED", Fit::whole, 2}}};
  for (const Json& one : list_of(answer, "secrets")) {
    const auto used = text_of(one, "last_used");
    const auto age = text_of(one, "age_seconds");
    table.add({text_of(one, "name"), joined(list_of(one, "hosts")), joined(list_of(one, "agents")),
               text_of(one, "source"),
               age.empty() ? Cell{"no value", Colour::red}
                           : Cell{seconds_text(number_of(one, "age_seconds"))},
               used.empty() ? "never" : used});
  }
  table.print_or(std::cout, terminal, "there are no secrets");
  return fine;
}

}  // namespace

void add_secrets(Command& stile) {
  auto options = std::make_shared<SecretsOptions>();
  auto command =
      stile.add("secrets", "list the secrets that are put into requests, without their values");
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile secrets\n"
      "  stile secrets --json | jq '.secrets[] | select(.has_value | not) | .name'");
  command.does([options] {
    return ask(options->control, Access::look, Json{{"action", "secrets"}}, print_secrets);
  });
}

}  // namespace stile::cli
