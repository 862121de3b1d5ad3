// used_config: the config that an offline command assumes: the path of the log, the default ports.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acl/policy.h"
#include "cli/control_client.h"
#include "cli/seen.h"
#include "config/load.h"

namespace stile::cli {

// A config with its policies, as the daemon would load them at start.
struct UsedConfig {
  std::string name;  // for people
  config::Loaded loaded;
  std::shared_ptr<const acl::Snapshot> policies;
};

// Without a path: the config that the daemon uses or, if none answers, would use without -c. If the
// caller cannot read it, it comes from the daemon. The failure's message lists all errors.
[[nodiscard]] CommandOutcome<UsedConfig> read_config(const std::optional<std::string>& path);

// A config that is one text, as the daemon writes it.
[[nodiscard]] CommandOutcome<UsedConfig> config_of_text(const std::string& text,
                                                        const std::string& name);

// The logs to read: `named`, or the log of that config.
[[nodiscard]] CommandOutcome<std::vector<std::string>> audit_logs(
    const std::vector<std::string>& named, const std::optional<UsedConfig>& config);

// The requests in these logs. If none is named and the config's log cannot be read, the daemon
// sends it.
[[nodiscard]] CommandOutcome<Seen> read_seen(const std::vector<std::string>& named,
                                             const std::optional<UsedConfig>& config);

}  // namespace stile::cli
