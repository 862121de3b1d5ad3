// Connects to the daemon's control socket, and shows what failed with the command to run next.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <vector>

#include "base/json_value.h"
#include "control/client.h"

namespace stile::cli {

// What went wrong, and what to do next.
struct CommandFailure {
  int status = 1;         // exit status
  std::string code;       // of the daemon, or "no-daemon", "no-permission", "no-answer"
  std::string message;    // one sentence
  std::string advice;     // the next command, to paste; may be empty, and end in "   # a remark"
  std::string note = {};  // what no command can do; may be empty
};
template <class T>
using CommandOutcome = boost::system::result<T, CommandFailure>;

// Of the daemon or the spawner. A separate type, because Json converts to and from nearly
// everything.
struct Answer {
  Json json;
};

// Prints one line; returns `fine`.
int print_json(const Json& value);

// Prints a failure on stderr, and as JSON on stdout for --json. Returns the exit status.
[[nodiscard]] int print_failure(const CommandFailure& failure, bool is_json);

// A failure to talk to the daemon, with advice.
[[nodiscard]] CommandFailure failure_of(const control::ClientError& error, const std::string& path);

// Connects to the first of the paths on which a process listens.
[[nodiscard]] CommandOutcome<control::ControlClient> connect(const std::vector<std::string>& paths);

}  // namespace stile::cli
