// stile revoke: ends grants, and denies what the policy itself allows.
#include <iostream>
#include <memory>

#include "base/quoted.h"
#include "base/table.h"
#include "cli/argument_checks.h"
#include "cli/command_list.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

struct RevokeOptions {
  ControlOptions control;
  std::string agent, grant;
  std::vector<std::string> hosts;
};

std::string undo(const std::string& agent, const Json& denied) {
  std::string command = "stile allow " + agent;
  for (const Json& pattern : denied) command += ' ' + shell_word(pattern.text());
  return command;
}

int run_revoke(const RevokeOptions& options) {
  if (options.hosts.empty() && options.grant.empty()) {
    return misuse("revoke", "HOST or --grant is missing");
  }
  Json request{{"action", "revoke"}, {"agent", options.agent}};
  if (options.grant.empty()) {
    request.set("hosts", options.hosts);
  } else {
    request.set("grant", options.grant);
  }
  return ask(options.control, Access::change, request, [&](const Json& answer, const Terminal&) {
    const Json& ended = list_of(answer, "ended");
    const Json& denied = list_of(answer, "denied");
    if (!ended.empty()) std::cout << "ended: grant " << Cell{joined(ended)}.text << '\n';
    if (!denied.empty()) {
      std::cout << "denied from now on, although the policy allows it: "
                << Cell{joined(denied)}.text << "\n  undo: "
                << Cell{addressed(undo(options.agent, denied), options.control)}.text << '\n';
    }
    if (ended.empty() && denied.empty()) {
      std::cout << options.agent << " could not reach that anyway: nothing has changed\n";
    } else {
      std::cout << "what " << options.agent << " had open there is closed\n";
      if (!ended.empty() && !denied.empty()) std::cout << "a grant that ended is not undone\n";
    }
    return fine;
  });
}

}  // namespace

void add_revoke(Command& stile) {
  auto options = std::make_shared<RevokeOptions>();
  auto command = stile.add("revoke", "deny hosts to an agent, at once");
  command.word("AGENT", options->agent, "the agent's id").required();
  const auto grant = command.option("--grant", options->grant, "end this grant instead");
  command.words("HOST", options->hosts, "patterns; open connections there are closed")
      .check(check_pattern)
      .excludes(grant);
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile revoke alpha wheels.example.org\n"
      "  stile revoke alpha --grant 7f3a      # the ids are in `stile agents alpha`\n"
      "A host that the policy itself allows is denied until `stile allow`, or until that agent's\n"
      "entry in the config changes.");
  command.does([options] { return run_revoke(*options); });
}

}  // namespace stile::cli
