// stile revoke: ends grants, and denies what the policy itself allows.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

struct Options {
  ControlOptions control;
  std::string agent, grant;
  std::vector<std::string> hosts;
};

int run(const Options& options) {
  Json request{{"action", "revoke"}, {"agent", options.agent}};
  if (options.grant.empty()) {
    request["hosts"] = options.hosts;
  } else {
    request["grant"] = options.grant;
  }
  return ask(options.control, Access::change, request, [&](const Json&, const Terminal&) {
    if (options.grant.empty()) {
      std::cout << options.agent << " may no longer reach";
      for (const auto& host : options.hosts) {
        std::cout << (&host == &options.hosts.front() ? " " : ", ") << host;
      }
      std::cout << "; what it had open there is closed\n  undo: stile allow " << options.agent;
      for (const auto& host : options.hosts) std::cout << ' ' << host;
      std::cout << '\n';
    } else {
      std::cout << "grant " << options.grant << " of " << options.agent << " has ended\n";
    }
    return fine;
  });
}

}  // namespace

void add_revoke(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("revoke", "take hosts from an agent, now");
  command->add_option("AGENT", options->agent, "the agent's id")->required();
  auto* hosts =
      command->add_option("HOST", options->hosts, "patterns; open connections there are closed")
          ->check(check_pattern);
  auto* grant = command->add_option("--grant", options->grant, "end this grant instead");
  hosts->excludes(grant);
  add_control_options(*command, options->control);
  command->footer(
      "Examples:\n"
      "  stile revoke alpha pypi.org\n"
      "  stile revoke alpha --grant 7f3a      (the ids are in `stile agents alpha`)\n"
      "A host that the policy itself allows is denied until `stile allow`, or until that agent's\n"
      "entry in the config changes.");
  command->callback([options, hosts, grant, &action] {
    if (hosts->empty() && grant->empty()) throw CLI::RequiredError("HOST or --grant");
    action = [options] { return run(*options); };
  });
}

}  // namespace stile::cli
