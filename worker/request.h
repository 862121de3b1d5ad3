// TaskRequest: what stile-spawner asks a worker's keeper, one JSON object per connection. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stile::worker {

enum class TaskAction : std::uint8_t { run, cancel, output, runs, files };

inline constexpr std::uint32_t longest_wait_seconds = 60;

struct TaskRequest {
  TaskAction action = TaskAction::runs;
  std::string message;               // of run: the standard input of the task
  std::optional<std::uint64_t> run;  // of cancel, output and files; unset: the latest
  std::uint64_t cursor = 0;          // of output
  std::uint32_t wait_seconds = 0;    // of output: wait for more output or for the end
};

// The longest request: a message of a request to the spawner, every byte escaped.
inline constexpr std::size_t max_request_bytes = 512U << 10U;

[[nodiscard]] std::string request_text(const TaskRequest& request);
[[nodiscard]] Result<TaskRequest> parse_request(std::string_view text);

}  // namespace stile::worker
