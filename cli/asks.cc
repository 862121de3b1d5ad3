// stile asks: lists what waits for a person, or watches it on the whole screen.
#include <iostream>
#include <memory>

#include "base/quoted.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/ask_words.h"
#include "cli/asks_watch.h"
#include "cli/command_list.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

struct AsksOptions {
  ControlOptions control;
  std::string agent;
  bool watch = false;
};

int print_asks(const AsksOptions& options, const Json& answer, const Terminal& terminal) {
  Table table{{{"ASK"},
               {"AGENT", Fit::cut_end},
               {"WANTS", Fit::cut_start},
               {"TRIES", Fit::number, 2},
               {"HELD", Fit::number, 2},
               {"RUNS OUT", Fit::number, 1},
               {"THE AGENT SAYS", Fit::cut_end, 3}}};
  for (const Json& one : list_of(answer, "asks")) {
    table.add({Cell{text_of(one, "id"), Colour::bold}, text_of(one, "agent"), wanted(one),
               text_of(one, "count"), text_of(one, "held"),
               seconds_text(number_of(one, "seconds_left")), agents_words(one)});
  }
  if (table.is_empty()) {
    std::cout << "no request waits for an answer\n";
    return fine;
  }
  table.print(std::cout, terminal);
  for (const Json& one : list_of(answer, "asks")) {
    if (likeness(one).empty()) continue;
    std::cout << terminal.coloured("  take care: ", Colour::red) << wanted(one) << ' '
              << likeness(one) << '\n';
  }
  const Json& first = list_of(answer, "asks").items().front();
  const std::string id = printable(text_of(first, "id"));
  std::cout << "  next: " << addressed("stile approve " + id + " --for 1h", options.control)
            << "\n    or: " << addressed("stile refuse " + id, options.control) << '\n';
  return fine;
}

int run_asks(const AsksOptions& options) {
  if (options.watch) return watch_asks(options.control, options.agent);
  Json request{{"action", "asks"}};
  if (!options.agent.empty()) request.set("agent", options.agent);
  return ask(options.control, Access::look, request,
             [&](const Json& answer, const Terminal& terminal) {
               return print_asks(options, answer, terminal);
             });
}

}  // namespace

void add_asks(Command& stile) {
  auto options = std::make_shared<AsksOptions>();
  auto command = stile.add("asks", "list requests that no rule names and that wait for a person");
  command.option("--agent", options->agent, "only this one");
  command.flag("--watch", options->watch, "on the whole screen, with keys to answer");
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile asks\n"
      "  stile asks --watch\n"
      "  stile asks --json | jq -r '.asks[] | .id + \" \" + .host'\n"
      "Agents ask if `unlisted = \"ask\"` is set for them. What an agent says is untrusted\n"
      "text: decide by the host.");
  command.does([options] { return run_asks(*options); });
}

}  // namespace stile::cli
