// files: what the command sees of the host's files, and its environment variables.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "confine/view.h"
#include "run/capture.h"
#include "run/launch.h"
#include "run/options.h"
#include "run/service.h"

namespace stile::run {

struct CommandFiles {
  confine::ViewRequest view;
  std::vector<std::string> environment;
  std::vector<std::string> notices;  // for people
};

// From the flags, the caller's variables and the working directory. Named paths must not contain
// links. Call it after the log is opened, so that the log can be covered. `control`: the directory
// of our control socket, which stays hidden; "": none. `ca`: a CA that the command is to trust,
// PEM; "": none.
[[nodiscard]] Result<CommandFiles> choose_files(const Options& options, const Launch& launch,
                                                const std::vector<std::string>& environment,
                                                const std::string& control, const Trust& trust);

// A note on what `--files host` exposes, or that the working directory is empty; "" if neither.
[[nodiscard]] std::string files_notice(const confine::View& view);

}  // namespace stile::run
