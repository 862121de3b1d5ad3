// narrow: applies a file from a less trusted author to what a command may do. It can only take
// away. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unix_time.h"
#include "config/diagnostics.h"
#include "config/launch.h"
#include "config/node.h"
#include "config/settings.h"

namespace stile::config {

inline constexpr std::size_t max_restriction_bytes = 64U << 10U;

// agent-permissions.json. An unset member changes nothing.
struct Restriction {
  std::optional<std::vector<PlacedPattern>> allow;
  std::vector<PlacedPattern> deny;
  std::optional<std::vector<std::string>> read, write;  // absolute, without "." and ".."
  std::optional<std::vector<Variable>> environment;
  ResourceLimits limits;
  std::optional<std::int64_t> ttl_seconds;
  bool has_network = true;
};

// Relative paths start at `workspace`, and so does "/workspace".
[[nodiscard]] Checked<Restriction> parse_restriction(std::string_view text, const std::string& file,
                                                     const std::string& workspace);

// The same for a value in another document.
[[nodiscard]] Checked<Restriction> read_restriction(const Node& node, const std::string& file,
                                                    const std::string& workspace);

// How the command sees its workspace.
enum class WorkspaceAccess : std::uint8_t { write, read, none };

// What is narrowed.
struct Permissions {
  AgentSettings agent;
  std::vector<std::uint16_t> ports, http_ports;  // in force for the agent
  LaunchSettings launch;
  std::string workspace;  // absolute
  WorkspaceAccess workspace_access = WorkspaceAccess::write;
};

// Everything that would widen is an error, and nothing is changed then. `now` is the start of
// `ttl_seconds`.
[[nodiscard]] Checked<Permissions> narrow(Permissions permissions, const Restriction& restriction,
                                          UnixMicros now);

// Whether the agent may reach all that the pattern covers.
[[nodiscard]] bool is_within_allowed(const acl::Pattern& pattern, const Permissions& permissions);

}  // namespace stile::config
