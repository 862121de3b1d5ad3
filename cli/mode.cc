// stile mode: sets enforce, observe, or the kill switch.
#include <iostream>
#include <memory>

#include "cli/command_list.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

struct ModeOptions {
  ControlOptions control;
  std::string mode, agent;
};

int run_mode(const ModeOptions& options) {
  Json request{{"action", "mode"}, {"mode", options.mode}};
  if (!options.agent.empty()) request.set("agent", options.agent);
  return ask(options.control, Access::change, request, [&](const Json&, const Terminal&) {
    const std::string who = options.agent.empty() ? "everybody" : options.agent;
    std::cout << who << " is in mode " << options.mode << '\n';
    if (options.mode == "offline") {
      std::cout << "  what was open is closed; undo: stile mode enforce"
                << (options.agent.empty() ? "" : " " + options.agent) << '\n';
    } else if (options.mode == "observe") {
      std::cout << "  refusals are only logged; see: stile suggest, then: stile mode enforce"
                << (options.agent.empty() ? "" : " " + options.agent) << '\n';
    }
    return fine;
  });
}

}  // namespace

void add_mode(Command& stile) {
  auto options = std::make_shared<ModeOptions>();
  auto command = stile.add("mode", "set the mode: enforce, observe or offline");
  command.word("MODE", options->mode, "enforce, observe or offline")
      .required()
      .one_of({"enforce", "observe", "offline"});
  command.word("AGENT", options->agent, "only this agent (default: all)");
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile mode offline               refuse everything; close what is open\n"
      "  stile mode offline alpha         alpha does not\n"
      "  stile mode observe alpha         log what would be refused, but let it through\n"
      "  stile mode enforce alpha");
  command.does([options] { return run_mode(*options); });
}

}  // namespace stile::cli
