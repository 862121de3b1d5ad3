// SpawnRequest: one request to stile-spawner. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/node.h"

namespace stile::spawn {

inline constexpr std::size_t max_request_bytes = 64U << 10U;

enum class SpawnAction : std::uint8_t {
  spawn,
  terminate,
  list,
  status,
  validate_token,
  run,
  cancel,
  output,
  files,
  read_file,
};
[[nodiscard]] std::string_view text(SpawnAction action) noexcept;

// Members that an action does not have are empty.
struct SpawnRequest {
  SpawnAction action = SpawnAction::list;
  std::string task_id;  // the worker
  std::string workspace, template_name = "default", path, message;
  std::optional<std::string> token;  // if there is one, it must be the worker's
  std::vector<std::string> tags;
  std::optional<config::Node> card;  // what narrows the template
  std::optional<std::uint64_t> run;  // of a worker's tasks; unset: the latest
  std::uint64_t cursor = 0, offset = 0;
  std::uint32_t wait_seconds = 0;
};

// Where the first JSON object of these bytes ends, or the line that should have been one: callers
// may send a newline or not. nullopt: more bytes are needed.
[[nodiscard]] std::optional<std::size_t> request_end(std::string_view bytes) noexcept;

// The error is for the caller. An id that is not one never gets beyond this.
[[nodiscard]] Result<SpawnRequest> parse_request(std::string_view text);

}  // namespace stile::spawn
