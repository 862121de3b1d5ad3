// stile connections: what is open now.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/control_command.h"
#include "cli/human.h"
#include "cli/table.h"

namespace stile::cli {
namespace {

struct ConnectionsOptions {
  ControlOptions control;
  std::string agent;
};

int print_connections(const Json& answer, const Terminal& terminal) {
  using Align = Column::Align;
  using Cut = Column::Cut;
  Table rows{{{"AGENT", Align::left, Cut::tail, 0},
              {"HOST", Align::left, Cut::head, 0},
              {"ORIGIN", Align::left, Cut::never, 3},
              {"UP", Align::right, Cut::never, 1},
              {"DOWN", Align::right, Cut::never, 1},
              {"AGE", Align::right, Cut::never, 2}}};
  for (const Json& one : list_of(answer, "connections")) {
    rows.add({text_of(one, "agent"), text_of(one, "host") + ':' + text_of(one, "port"),
              text_of(one, "origin"), bytes_text(number_of(one, "bytes_up")),
              bytes_text(number_of(one, "bytes_down")),
              seconds_text(number_of(one, "age_seconds"))});
  }
  if (rows.is_empty()) {
    std::cout << "nothing is open\n";
  } else {
    rows.print(std::cout, terminal);
  }
  return fine;
}

}  // namespace

void add_connections(CLI::App& app, Action& action) {
  auto options = std::make_shared<ConnectionsOptions>();
  auto* command = app.add_subcommand("connections", "what is open now, and how much has flowed");
  command->add_option("--agent", options->agent, "only this one");
  add_control_options(*command, options->control);
  command->footer(
      "Examples:\n"
      "  stile connections\n"
      "  stile connections --agent alpha --json | jq '.connections[].host'");
  command->callback([options, &action] {
    action = [options] {
      Json request{{"action", "connections"}};
      if (!options->agent.empty()) request["agent"] = options->agent;
      return ask(options->control, Access::look, request, print_connections);
    };
  });
}

}  // namespace stile::cli
