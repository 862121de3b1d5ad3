// stile agents: all agents, or one of them with its policy, grants and budgets.
#include <algorithm>
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
  const Json& agents = list_of(answer, "agents");
  const auto is_used = [&](const auto& has_it) {
    return std::any_of(agents.begin(), agents.end(), has_it);
  };
  // Most hosts need none of these three.
  const bool observes = is_used([](const Json& agent) {
    return number_of(agent, "requests_would_deny") > 0 || text_of(agent, "mode") == "observe";
  });
  const bool has_bytes =
      is_used([](const Json& agent) { return !budget_text(agent, "bytes_up").empty(); });
  const bool has_hosts =
      is_used([](const Json& agent) { return !list_of(agent, "host_budgets").empty(); });
  std::vector<Column> columns{{"AGENT", Fit::cut_end},     {"MODE"},
                              {"SOURCE", Fit::cut_end, 4}, {"RULES", Fit::number, 5},
                              {"GRANTS", Fit::number, 1},  {"OPEN", Fit::number, 1},
                              {"ALLOWED", Fit::number, 2}, {"DENIED", Fit::number, 1}};
  if (observes) columns.push_back({"WOULD DENY", Fit::number, 2});
  if (has_bytes) columns.push_back({"BYTES UP LEFT", Fit::number, 3});
  if (has_hosts) columns.push_back({"LEFT ON HOSTS", Fit::cut_end, 3});
  Table table{std::move(columns)};
  for (const Json& agent : agents) {
    const auto mode = text_of(agent, "mode");
    std::vector<Cell> row{text_of(agent, "id"),
                          {mode, mode_colour(mode)},
                          list_of(agent, "source").empty() ? "-" : joined(list_of(agent, "source")),
                          text_of(agent, "rules"),
                          std::to_string(list_of(agent, "grants").size()),
                          text_of(agent, "connections"),
                          text_of(agent, "requests_allowed"),
                          text_of(agent, "requests_denied")};
    if (observes) row.emplace_back(text_of(agent, "requests_would_deny"));
    if (has_bytes) row.emplace_back(budget_text(agent, "bytes_up"));
    if (has_hosts) row.emplace_back(host_budgets_text(agent));
    table.add(std::move(row));
  }
  table.print_or(
      std::cout, terminal,
      "no agents: every request is refused as unknown-agent\n"
      "  note: add an [[agent]] to the config, then: stile reload; or: stile put-agent FILE");
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
