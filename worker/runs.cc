// Runs: the tasks of one worker.
#include "worker/runs.h"

#include <algorithm>
#include <utility>

#include "base/json.h"

namespace stile::worker {
namespace {

// So that an answer fits into what clients of the spawner read at once.
constexpr std::size_t most_output_bytes = 48U << 10U;

void add_state(JsonObject& object, const Run& run) {
  object.add("run", run.number).add("status", text(run.state));
  if (run.exit_status) object.add("exit_status", *run.exit_status);
  object.add("started_at", run.started / micros_per_second);
  if (run.ended != 0) object.add("ended_at", run.ended / micros_per_second);
}

}  // namespace

std::string_view text(RunState state) noexcept {
  switch (state) {
    case RunState::running:
      return "running";
    case RunState::completed:
      return "completed";
    case RunState::canceled:
      return "canceled";
    case RunState::failed:
      break;
  }
  return "failed";
}

Result<std::uint64_t> Runs::start(UnixMicros now) {
  const auto running = std::count_if(runs_.begin(), runs_.end(), [](const Run& run) {
    return run.state == RunState::running && run.number != command_run;
  });
  if (static_cast<std::uint32_t>(running) >= limits_.at_once) {
    return Error{"the worker is busy: " + std::to_string(running) +
                 (running == 1 ? " task runs" : " tasks run") + "; wait for its end or cancel it"};
  }
  runs_.push_back({++last_, RunState::running, false, {}, now, 0, Output{limits_.output_bytes}});
  forget_old();
  return last_;
}

void Runs::start_command(UnixMicros now) {
  runs_.push_front(
      {command_run, RunState::running, false, {}, now, 0, Output{limits_.output_bytes}});
}

void Runs::append(std::uint64_t number, std::string_view bytes) {
  if (auto* run = find(number)) run->output.append(bytes);
}

void Runs::end(std::uint64_t number, int exit_status, UnixMicros now, ChangedFiles changed) {
  auto* run = find(number);
  if (run == nullptr || run->state != RunState::running) return;
  run->exit_status = exit_status;
  run->ended = now;
  run->changed = std::move(changed);
  run->state = run->is_canceled   ? RunState::canceled
               : exit_status == 0 ? RunState::completed
                                  : RunState::failed;
}

Run* Runs::find(std::optional<std::uint64_t> number) {
  if (!number) return runs_.empty() ? nullptr : &runs_.back();
  const auto found = std::find_if(runs_.begin(), runs_.end(),
                                  [&](const Run& run) { return run.number == *number; });
  return found == runs_.end() ? nullptr : &*found;
}

std::vector<std::uint64_t> Runs::running() const {
  std::vector<std::uint64_t> numbers;
  for (const auto& run : runs_) {
    if (run.state == RunState::running) numbers.push_back(run.number);
  }
  return numbers;
}

void Runs::forget_old() {
  const auto is_finished = [](const Run& run) {
    return run.state != RunState::running && run.number != command_run;
  };
  auto finished = static_cast<std::size_t>(std::count_if(runs_.begin(), runs_.end(), is_finished));
  for (; finished > limits_.kept; --finished) {
    runs_.erase(std::find_if(runs_.begin(), runs_.end(), is_finished));
  }
}

std::string Runs::state_of(const Run& run) const {
  std::string out;
  {
    JsonObject object{out};
    object.add("task_id", worker_);
    add_state(object, run);
  }
  return out;
}

std::string Runs::output_of(const Run& run, std::uint64_t cursor) const {
  const auto piece = run.output.read(cursor, most_output_bytes, run.state != RunState::running);
  std::string out;
  {
    JsonObject object{out};
    object.add("task_id", worker_);
    add_state(object, run);
    object.add("output", piece.text).add("cursor", piece.cursor);
    if (piece.missed != 0) object.add("missed", piece.missed);
    const bool is_last = run.state != RunState::running && piece.cursor == run.output.end();
    if (is_last && run.number != command_run) add_files(object, run.changed);
  }
  return out;
}

std::string Runs::files_of(const Run& run, const ChangedFiles& changed) const {
  std::string out;
  {
    JsonObject object{out};
    object.add("task_id", worker_).add("run", run.number);
    add_files(object, changed);
  }
  return out;
}

std::string Runs::all() const {
  std::string out;
  {
    JsonObject object{out};
    object.add("task_id", worker_);
    JsonArray list{object.key("runs")};
    for (const auto& run : runs_) {
      JsonObject entry{list.next()};
      add_state(entry, run);
    }
  }
  return out;
}

}  // namespace stile::worker
