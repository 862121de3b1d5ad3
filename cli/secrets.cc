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
  using Align = Column::Align;
  using Cut = Column::Cut;
  Table table{{{"SECRET", Align::left, Cut::tail, 0},
               {"HOSTS", Align::left, Cut::tail, 1},
               {"AGENTS", Align::left, Cut::tail, 2},
               {"FROM", Align::left, Cut::never, 3},
               {"AGE", Align::right, Cut::never, 1},
               {"LAST USED", Align::left, Cut::never, 2}}};
  for (const Json& one : list_of(answer, "secrets")) {
    const auto used = text_of(one, "last_used");
    const auto age = text_of(one, "age_seconds");
    table.add({text_of(one, "name"), joined(list_of(one, "hosts")), joined(list_of(one, "agents")),
               text_of(one, "source"),
               age.empty() ? Cell{"no value", Colour::red}
                           : Cell{seconds_text(number_of(one, "age_seconds"))},
               used.empty() ? "never" : used});
  }
  if (table.is_empty()) {
    std::cout << "there are no secrets\n";
  } else {
    table.print(std::cout, terminal);
  }
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
