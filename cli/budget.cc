// stile budget reset: resets the budgets of an agent.
#include <iostream>
#include <memory>

#include "cli/command_list.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

struct BudgetOptions {
  ControlOptions control;
  std::string agent;
};

}  // namespace

void add_budget(Command& stile) {
  auto options = std::make_shared<BudgetOptions>();
  auto budget = stile.add("budget", "reset an agent's budgets");
  budget.examples("Example:\n  stile budget reset alpha");
  auto command = budget.add("reset", "restore its full budgets of bytes, requests and tokens");
  command.word("AGENT", options->agent, "the agent's id").required();
  add_control_options(command, options->control);
  command.examples("Example:\n  stile budget reset alpha");
  command.does([options] {
    return ask(options->control, Access::change,
               {{"action", "budget-reset"}, {"agent", options->agent}},
               [&](const Json&, const Terminal&) {
                 std::cout << "the budgets of " << options->agent
                           << " are full again\n  see: stile agents " << options->agent << '\n';
                 return fine;
               });
  });
}

}  // namespace stile::cli
