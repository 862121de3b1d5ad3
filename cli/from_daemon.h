// from_daemon: gets the audit log and the config from the daemon. Members of the control socket's
// group may lack permission to open those files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/control_command.h"

namespace stile::cli {

// Reads each line of the log that the daemon writes, after the rotated files if requested.
using UseLine = std::function<void(std::string_view line)>;
[[nodiscard]] CommandOutcome<void> read_daemon_log(const ControlOptions& options, bool with_rotated,
                                                   const UseLine& use);

// The file that the daemon uses, if it is not the default one; nullopt also if no daemon answers.
[[nodiscard]] std::optional<std::string> other_config_in_use();

// The config in use as the daemon would read it now, in one text. Fails for root, who can read
// everything directly.
struct DaemonConfig {
  std::string file, digest, text;
  Json rejected_cards;
};
[[nodiscard]] CommandOutcome<DaemonConfig> read_daemon_config(const ControlOptions& options);

}  // namespace stile::cli
