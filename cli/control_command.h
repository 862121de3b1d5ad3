// What all commands that talk to the daemon have in common.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/control_client.h"
#include "cli/json.h"
#include "cli/terminal.h"

namespace stile::cli {

struct ControlOptions {
  std::string socket;  // empty: the usual places
  bool json = false;
  std::string run = {};  // the stile run with this name; empty: a daemon, or the only run
};
// --socket, --run and --json.
void add_control_options(Command& command, ControlOptions& options);

// Whether a command only looks: then the socket for those who may only look will do, too.
enum class Access : std::uint8_t { look, change };

[[nodiscard]] Outcome<control::Client> connect(const ControlOptions& options, Access access);

// What the daemon said. A type of its own, since Json converts to and from nearly everything.
struct Answer {
  Json json;
};

// Sends one request and waits for its answer. An answer that is not ok is a failure whose advice
// fits its code.
[[nodiscard]] Outcome<Answer> send_request(control::Client& client, const Json& request);
// The same for a request that is text already; of `request` only what advice needs is looked at.
[[nodiscard]] Outcome<Answer> send_text(control::Client& client, std::string_view text,
                                        const Json& request);

// Tells of a failure on stderr (and as JSON on stdout, if that was asked for); the exit status.
[[nodiscard]] int report(const Failure& failure, const ControlOptions& options);

// The agent cards that the daemon did not take, of an answer that has them.
void print_rejected_cards(const Json& answer, const Terminal& terminal);

// One request, one answer: printed as JSON, or by `print`, which returns the exit status.
using Print = std::function<int(const Json& answer, const Terminal& terminal)>;
[[nodiscard]] int ask(const ControlOptions& options, Access access, const Json& request,
                      const Print& print);

}  // namespace stile::cli
