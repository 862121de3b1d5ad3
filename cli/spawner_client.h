// Asks stile-spawner, for the commands about workers.
#pragma once

#include <functional>
#include <string>

#include "base/json_value.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "cli/control_client.h"

namespace stile::cli {

struct SpawnerOptions {
  std::string socket;  // empty: $STILE_SPAWNER, else the default path
  bool json = false;
};
// --spawner and --json.
void add_spawner_options(Command& command, SpawnerOptions& options);

// One request and its answer, which may take as long as a worker needs to start or to end. An
// answer with `error` becomes a failure.
[[nodiscard]] CommandOutcome<Answer> ask_spawner(const SpawnerOptions& options,
                                                 const Json& request);

// Whether a worker in the spawner's list has the tag.
[[nodiscard]] bool is_tagged(const Json& worker, const std::string& tag);

// Follows the output of a task, piece by piece, until the task ends, or only what there is now.
// Returns the last answer.
using ShowPiece = std::function<void(const Json& piece)>;
struct FollowedTask {
  std::string worker;
  std::string run;  // a number; "": the latest
  bool until_end = true;
};
[[nodiscard]] CommandOutcome<Answer> follow_output(const SpawnerOptions& options,
                                                   const FollowedTask& task, const ShowPiece& show);

}  // namespace stile::cli
