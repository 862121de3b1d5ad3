// stile agents: all agents, or one of them with its policy, grants and budgets.
#include <iostream>
#include <memory>

#include "base/table.h"
#include "cli/agent_detail.h"
#include "cli/command_list.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

struct AgentsOptions {
  ControlOptions control;
  std::string agent;
};

// "api.example.com: 90 of 100 requests; …"
std::string host_budgets_text(const Json& agent) {
  std::string words;
  for (const Json& budget : list_of(agent, "host_budgets")) {
    if (!words.empty()) words += "; ";
    words += text_of(budget, "host") + ": " + host_budget_text(budget);
  }
  return words;
}

int print_all(const Json& answer, const Terminal& terminal) {
  using Align = Column::Align;
  using Cut = Column::Cut;
  Table table{{{"AGENT", Align::left, Cut::tail, 0},
               {"MODE", Align::left, Cut::never, 0},
               {"SOURCE", Align::left, Cut::tail, 2},
               {"RULES", Align::right, Cut::never, 3},
               {"GRANTS", Align::right, Cut::never, 1},
               {"OPEN", Align::right, Cut::never, 1},
               {"ALLOWED", Align::right, Cut::never, 2},
               {"DENIED", Align::right, Cut::never, 1},
               {"WOULD DENY", Align::right, Cut::never, 2},
               {"BYTES UP LEFT", Align::right, Cut::never, 2},
               {"LEFT ON HOSTS", Align::left, Cut::tail, 2}}};
  for (const Json& agent : list_of(answer, "agents")) {
    const auto mode = text_of(agent, "mode");
    table.add({text_of(agent, "id"),
               {mode, mode_colour(mode)},
               joined(list_of(agent, "source")),
               text_of(agent, "rules"),
               std::to_string(list_of(agent, "grants").size()),
               text_of(agent, "connections"),
               text_of(agent, "requests_allowed"),
               text_of(agent, "requests_denied"),
               text_of(agent, "requests_would_deny"),
               budget_text(agent, "bytes_up"),
               host_budgets_text(agent)});
  }
  if (table.is_empty()) {
    std::cout << "no agents: every request is refused as unknown-agent\n"
                 "  next: add an [[agent]] to the config and `stile reload`, or: stile put-agent\n";
  } else {
    table.print(std::cout, terminal);
  }
  return fine;
}

int run_agents(const AgentsOptions& options) {
  if (options.agent.empty()) {
    return ask(options.control, Access::look, {{"action", "agents"}}, print_all);
  }
  return ask(options.control, Access::look, {{"action", "agent"}, {"agent", options.agent}},
             print_agent);
}

}  // namespace

void add_agents(Command& stile) {
  auto options = std::make_shared<AgentsOptions>();
  auto command = stile.add("agents", "list the agents, or show one in detail");
  command.word("AGENT", options->agent, "its policy, grants, budgets and counters");
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile agents\n"
      "  stile agents alpha\n"
      "  stile agents --json | jq -r '.agents[].id'");
  command.does([options] { return run_agents(*options); });
}

}  // namespace stile::cli
