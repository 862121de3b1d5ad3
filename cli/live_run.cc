// live_run: finds the `stile run` that a command addresses when there is no daemon.
#include "cli/live_run.h"

#include <algorithm>
#include <iostream>

#include "base/joined.h"
#include "base/quoted.h"
#include "cli/command.h"
#include "config/diagnostics.h"
#include "control/run_sockets.h"

namespace stile::cli {
namespace {

constexpr std::size_t most_of_a_command = 60;

std::string described(const control::RunSocket& run) {
  return run.name + "  " + printable(run.command.substr(0, most_of_a_command));
}

std::string list_of_runs(const std::vector<control::RunSocket>& runs) {
  return joined_texts(runs, described, "\n        ");
}

}  // namespace

std::string own_runs() {
  std::string list;
  for (const auto& run : control::live_runs(control::run_socket_folder())) {
    list += (list.empty() ? "--run " : "\n        --run ") + described(run);
  }
  return list;
}

CommandOutcome<control::ControlClient> connect_to_run(const std::string& name) {
  const auto runs = control::live_runs(control::run_socket_folder());
  const auto found =
      std::find_if(runs.begin(), runs.end(), [&](const auto& run) { return run.name == name; });
  if (found != runs.end()) return cli::connect({found->path});
  return CommandFailure{no_daemon,
                        "no-daemon",
                        "there is no stile run " + in_quotes(name),
                        {},
                        runs.empty() ? "" : "these run:\n        " + list_of_runs(runs)};
}

std::optional<CommandOutcome<control::ControlClient>> connect_to_only_run() {
  const auto runs = control::live_runs(control::run_socket_folder());
  if (runs.empty()) return std::nullopt;
  if (runs.size() > 1) {
    return CommandFailure{
        misused,
        "several-runs",
        "no daemon is running, but " + std::to_string(runs.size()) + " stile runs are",
        {},
        "choose one with --run PID:\n        " + list_of_runs(runs)};
  }
  std::cerr << "stile: no daemon; asking stile run " << described(runs.front()) << '\n';
  return cli::connect({runs.front().path});
}

}  // namespace stile::cli
