// stile mode: sets enforce, observe, or the kill switch.
#include <iostream>
#include <memory>

#include "cli/advice.h"
#include "cli/command_list.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

struct ModeOptions {
  ControlOptions control;
  std::string mode, agent;
};

// Offline anywhere wins: a mode that was set may have no effect yet.
std::string still_offline(const ModeOptions& options) {
  auto client = connect(options.control, Access::look, Peers::daemon_or_run);
  if (!client) return {};
  const auto status = send_request(*client, {{"action", "status"}});
  if (!status || text_of(status->json, "mode") != "offline") return {};
  if (flag_of(object_of(status->json, "fleet"), "offline")) return std::string{fleet_offline_note};
  return "all agents are offline, and that wins; to end it: " +
         addressed("stile mode enforce", options.control);
}

int run_mode(const ModeOptions& options) {
  Json request{{"action", "mode"}, {"mode", options.mode}};
  if (!options.agent.empty()) request.set("agent", options.agent);
  return ask(options.control, Access::change, request, [&](const Json&, const Terminal&) {
    const auto why = options.mode == "offline" ? std::string{} : still_offline(options);
    if (!why.empty()) {
      std::cout << "mode " << options.mode << " is saved, but has no effect yet\n  note: " << why
                << '\n';
      return fine;
    }
    const std::string who = options.agent.empty() ? "all agents are" : options.agent + " is";
    std::cout << who << " in mode " << options.mode << '\n';
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
      "  stile mode offline alpha         the same for alpha only\n"
      "  stile mode observe alpha         log what would be refused, but let it through\n"
      "  stile mode enforce alpha");
  command.does([options] { return run_mode(*options); });
}

}  // namespace stile::cli
