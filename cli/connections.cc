// stile connections: lists the open connections.
#include <iostream>
#include <memory>

#include "base/table.h"
#include "base/units.h"
#include "cli/command_list.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

struct ConnectionsOptions {
  ControlOptions control;
  std::string agent;
};

int print_connections(const Json& answer, const Terminal& terminal) {
  Table table{{{"AGENT", Fit::cut_end},
               {"HOST", Fit::cut_start},
               {"ORIGIN", Fit::whole, 3},
               {"UP", Fit::number, 1},
               {"DOWN", Fit::number, 1},
               {"AGE", Fit::number, 2}}};
  for (const Json& one : list_of(answer, "connections")) {
    table.add({text_of(one, "agent"), text_of(one, "host") + ':' + text_of(one, "port"),
               text_of(one, "origin"), bytes_text(number_of(one, "bytes_up")),
               bytes_text(number_of(one, "bytes_down")),
               seconds_text(number_of(one, "age_seconds"))});
  }
  table.print_or(std::cout, terminal, "nothing is open");
  return fine;
}

}  // namespace

void add_connections(Command& stile) {
  auto options = std::make_shared<ConnectionsOptions>();
  auto command = stile.add("connections", "list open connections and their byte counts");
  command.option("--agent", options->agent, "only this agent");
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile connections\n"
      "  stile connections --agent alpha --json | jq '.connections[].host'");
  command.does([options] {
    Json request{{"action", "connections"}};
    if (!options->agent.empty()) request.set("agent", options->agent);
    return ask(options->control, Access::look, request, print_connections);
  });
}

}  // namespace stile::cli
