// The config that an offline command takes for granted: where the log is, which ports are usual.
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

// A config with its policies, as the daemon would have them after a fresh start.
struct UsedConfig {
  std::string name;  // for people
  config::Loaded loaded;
  std::shared_ptr<const acl::Snapshot> policies;
};

// Without a path: what the daemon would take without -c; if the caller may not read that, as the
// daemon reads it. The failure has all errors in its message.
[[nodiscard]] Outcome<UsedConfig> read_config(const std::optional<std::string>& path);

// The logs to read: `named`, or the log of that config.
[[nodiscard]] Outcome<std::vector<std::string>> audit_logs(const std::vector<std::string>& named,
                                                           const std::optional<UsedConfig>& config);

// The requests in these logs. If none is named and the config's cannot be read, the daemon gives
// it.
[[nodiscard]] Outcome<Seen> read_seen(const std::vector<std::string>& named,
                                      const std::optional<UsedConfig>& config);

}  // namespace stile::cli
