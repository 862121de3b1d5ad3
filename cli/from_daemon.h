// What a caller may not read himself, given out by the daemon: the audit log and the config.
// Members of the control socket's group need not be able to open those files.
#pragma once

#include <functional>
#include <string_view>

#include "cli/control_command.h"

namespace stile::cli {

// Each line of the log that the daemon writes, rotated files before it if asked for.
using UseLine = std::function<void(std::string_view line)>;
[[nodiscard]] Outcome<void> read_daemon_log(const ControlOptions& options, bool with_rotated,
                                            const UseLine& use);

// The config in use as the daemon would read it now, in one text. A failure for root, who can read
// everything himself, and for a daemon that uses another config.
struct DaemonConfig {
  std::string file, digest, text;
  Json rejected_cards;
};
[[nodiscard]] Outcome<DaemonConfig> read_daemon_config(const ControlOptions& options);

}  // namespace stile::cli
