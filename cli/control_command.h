// Code shared by all commands that talk to the daemon.
#pragma once

#include <functional>
#include <string>

#include "base/json_value.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "cli/control_client.h"

namespace stile::cli {

struct ControlOptions {
  std::string socket;  // empty: the default paths
  bool json = false;
  std::string run = {};  // the stile run with this name; empty: a daemon, or the only run
};
// --socket, --run and --json.
void add_control_options(Command& command, ControlOptions& options);

// Whether a command only reads: then the read-only socket is enough.
enum class Access : std::uint8_t { look, change };

// Whether the only `stile run` answers where there is no daemon.
enum class Peers : std::uint8_t { daemon, daemon_or_run };

[[nodiscard]] CommandOutcome<control::ControlClient> connect(const ControlOptions& options,
                                                             Access access,
                                                             Peers peers = Peers::daemon_or_run);

// Sends one request and waits for its answer. An answer that is not ok becomes a failure, with
// advice that fits its code.
[[nodiscard]] CommandOutcome<Answer> send_request(control::ControlClient& client,
                                                  const Json& request);
// The same for a request that is already text; `request` is used only for advice.
[[nodiscard]] CommandOutcome<Answer> send_text(control::ControlClient& client,
                                               std::string_view text, const Json& request);

// A command of `stile` for the same daemon or run: with the --socket or --run that was given.
[[nodiscard]] std::string addressed(std::string command, const ControlOptions& options);

// Prints a failure on stderr (and as JSON on stdout with --json). Returns the exit status.
[[nodiscard]] int report(const CommandFailure& failure, const ControlOptions& options);

// The agent cards that the daemon refused, if the answer lists them.
void print_rejected_cards(const Json& answer, const Terminal& terminal);

// Sends one request and prints the answer as JSON, or with `print`, which returns the exit status.
using Print = std::function<int(const Json& answer, const Terminal& terminal)>;
[[nodiscard]] int ask(const ControlOptions& options, Access access, const Json& request,
                      const Print& print);

}  // namespace stile::cli
