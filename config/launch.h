// launch: what a card says to a launcher: the command of an agent, its files, variables and limits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/card.h"
#include "config/diagnostics.h"
#include "config/node.h"
#include "config/reader.h"

namespace stile::config {

// An unset limit is no limit.
struct ResourceLimits {
  std::optional<std::uint64_t> memory_mb, cpu_percent, cpu_shares, max_processes, max_open_files,
      disk_mb;
  friend bool operator==(const ResourceLimits&, const ResourceLimits&) = default;
};

struct LimitKey {
  std::string_view name;
  std::optional<std::uint64_t> ResourceLimits::*member;
  std::int64_t least, most;
};
[[nodiscard]] std::span<const LimitKey> limit_keys() noexcept;

struct Variable {
  std::string name, value;
  friend bool operator==(const Variable&, const Variable&) = default;
};

struct LaunchSettings {
  std::string workspace;  // "": the working directory
  std::vector<std::string> command;
  std::vector<Variable> environment;
  std::string api_provider, api_key_file;
  std::vector<std::string> read, write, tags;
  ResourceLimits limits;
};

// Reads one launcher's key. False: it is none.
[[nodiscard]] bool read_launch_key(const Member& member, const Reader& reader,
                                   LaunchSettings& launch);

// Parts of it, for other files that have them.
[[nodiscard]] std::optional<std::vector<std::string>> read_texts(const Node& node,
                                                                 const Reader& reader);
[[nodiscard]] std::optional<std::vector<Variable>> read_variables(const Node& node,
                                                                  const Reader& reader);
[[nodiscard]] std::optional<ResourceLimits> read_limits(const Node& node, const Reader& reader);

// The launcher's keys of a card. The other keys are those of parse_card.
[[nodiscard]] Checked<LaunchSettings> parse_launch(std::string_view text, const CardOrigin& origin);

}  // namespace stile::config
