// Task: a task of a worker as A2A sees it, from what the spawner and the daemon say. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unix_time.h"

namespace stile::a2a {

inline constexpr UnixMicros micros_in_second = 1'000'000;

enum class State : std::uint8_t { working, completed, failed, canceled, auth_required };
[[nodiscard]] bool is_over(State state) noexcept;

// The spawner's `status` of a worker.
struct RunStatus {
  std::uint64_t number = 0;
  std::string status;  // "running", "completed", "failed", "canceled"
  std::optional<std::int64_t> exit_status;
  std::int64_t started_at = 0, ended_at = 0;  // Unix seconds; ended_at 0: it runs
};
struct WorkerStatus {
  std::string id;
  std::int64_t started_at = 0;
  std::vector<RunStatus> runs;  // tasks only, without the worker's command

  [[nodiscard]] const RunStatus* find(std::uint64_t number) const noexcept;
};
// nullopt: the answer is none, or the worker's keeper did not answer.
[[nodiscard]] std::optional<WorkerStatus> parse_worker(std::string_view answer);

// A file that a task changed.
struct File {
  std::string name;  // relative to the workspace
  std::int64_t size = 0, modified_at = 0;
};

// The spawner's `output` of a task.
struct Piece {
  RunStatus run;
  std::string text;
  std::uint64_t cursor = 0, missed = 0;
  std::vector<File> files{};  // in the last piece of a task that has ended
  bool has_more_files = false;
};
[[nodiscard]] std::optional<Piece> parse_piece(std::string_view answer);

// `error` of a spawner's answer; nullopt: it has none.
[[nodiscard]] std::optional<std::string> error_of(std::string_view answer);

// A request of an agent that waits for a person.
struct OpenAsk {
  std::string id, agent, host;
  std::int64_t port = 0;
};
// The daemon's `asks`.
[[nodiscard]] std::vector<OpenAsk> parse_asks(std::string_view answer);

struct TaskOutput {
  std::string text;
  std::uint64_t missed = 0;  // bytes that are no longer kept
  std::vector<File> files{};
  bool has_more_files = false;
};

struct Task {
  std::string id, context;
  State state = State::working;
  std::string explanation;  // of the state; "": it needs none
  UnixMicros time = 0;      // when the state began
  std::optional<TaskOutput> output;
};

// `waits` is a request of this worker that waits for a person; null: none does.
[[nodiscard]] State state_of(std::string_view run_status, bool waits) noexcept;
[[nodiscard]] Task task_of(const WorkerStatus& worker, const RunStatus& run, const OpenAsk* waits);

// An id names the worker's start, too: a new worker of the same name numbers its tasks again.
[[nodiscard]] std::string task_id(const WorkerStatus& worker, std::uint64_t run);
// The number of the task; nullopt: this worker has none of that id.
[[nodiscard]] std::optional<std::uint64_t> run_of(const WorkerStatus& worker, std::string_view id);

}  // namespace stile::a2a
