// Runs: the tasks of one worker, with their states and what they wrote. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unix_time.h"
#include "worker/changed_files.h"
#include "worker/output.h"

namespace stile::worker {

enum class RunState : std::uint8_t { running, completed, failed, canceled };
[[nodiscard]] std::string_view text(RunState state) noexcept;

// The worker's command is run 0; tasks are numbered from 1.
inline constexpr std::uint64_t command_run = 0;

struct Run {
  std::uint64_t number = 0;
  RunState state = RunState::running;
  bool is_canceled = false;        // asked to end
  std::optional<int> exit_status;  // as in a shell: 128+n for a signal
  UnixMicros started = 0, ended = 0;
  Output output;
  ChangedFiles changed = {};  // known at the end
};

class Runs {
 public:
  struct Limits {
    std::uint32_t at_once = 1;
    std::size_t kept = 16;  // finished ones, beside the command
    std::size_t output_bytes = 256U << 10U;
  };
  Runs(std::string worker, const Limits& limits) : worker_{std::move(worker)}, limits_{limits} {}

  // The number of a new task. Refused while `at_once` of them run.
  [[nodiscard]] Result<std::uint64_t> start(UnixMicros now);
  void start_command(UnixMicros now);
  void append(std::uint64_t number, std::string_view bytes);
  void end(std::uint64_t number, int exit_status, UnixMicros now, ChangedFiles changed = {});

  // nullopt: the latest task, or the command if there was none. Null: no such run.
  [[nodiscard]] Run* find(std::optional<std::uint64_t> number);
  [[nodiscard]] std::vector<std::uint64_t> running() const;

  // Answers, as JSON on one line.
  [[nodiscard]] std::string state_of(const Run& run) const;
  // With the changed files if the run has ended and this is the last piece.
  [[nodiscard]] std::string output_of(const Run& run, std::uint64_t cursor) const;
  [[nodiscard]] std::string files_of(const Run& run, const ChangedFiles& changed) const;
  [[nodiscard]] std::string all() const;

 private:
  void forget_old();

  std::string worker_;
  Limits limits_;
  std::uint64_t last_ = 0;
  std::deque<Run> runs_;
};

}  // namespace stile::worker
