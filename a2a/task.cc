// Task: the mapping, and readers of answers.
#include "a2a/task.h"

#include <algorithm>
#include <charconv>

#include "config/json_loader.h"

namespace stile::a2a {
namespace {

using config::Node;

constexpr std::int64_t last_second =
    253'402'300'799;  // of the year 9999: RFC 3339 has no later one

// A time in Unix seconds; 0 if it is missing or cannot be written.
std::int64_t second_of(const Node& object, std::string_view key) {
  const auto second = object.number(key).value_or(0);
  return second <= last_second ? second : 0;
}

std::optional<RunStatus> run_from(const Node& object) {
  const auto number = object.number("run");
  if (!number) return std::nullopt;
  RunStatus run;
  run.number = static_cast<std::uint64_t>(*number);
  run.status = object.text("status");
  run.exit_status = object.number("exit_status");
  run.started_at = second_of(object, "started_at");
  run.ended_at = second_of(object, "ended_at");
  return run;
}

}  // namespace

bool is_over(State state) noexcept {
  return state == State::completed || state == State::failed || state == State::canceled;
}

const RunStatus* WorkerStatus::find(std::uint64_t number) const noexcept {
  const auto found = std::find_if(runs.begin(), runs.end(),
                                  [&](const RunStatus& run) { return run.number == number; });
  return found == runs.end() ? nullptr : &*found;
}

std::optional<WorkerStatus> parse_worker(std::string_view answer) {
  const auto object = config::json_or_null(answer);
  const auto* runs = object.get<Node::Array>("runs");
  if (runs == nullptr) return std::nullopt;
  WorkerStatus worker;
  worker.id = object.text("task_id");
  worker.started_at = second_of(object, "started_at");
  for (const auto& one : *runs) {
    auto run = run_from(one);
    if (run && run->number > 0) worker.runs.push_back(std::move(*run));
  }
  return worker;
}

std::optional<Piece> parse_piece(std::string_view answer) {
  const auto object = config::json_or_null(answer);
  auto run = run_from(object);
  if (!run) return std::nullopt;
  Piece piece;
  piece.run = std::move(*run);
  piece.text = object.text("output");
  piece.cursor = static_cast<std::uint64_t>(object.number("cursor").value_or(0));
  piece.missed = static_cast<std::uint64_t>(object.number("missed").value_or(0));
  for (const auto& one : object.list("files")) {
    piece.files.push_back(
        {one.text("name"), one.number("size").value_or(0), second_of(one, "modified_at")});
  }
  piece.has_more_files = object.flag("truncated");
  return piece;
}

std::optional<std::string> error_of(std::string_view answer) {
  const auto object = config::json_or_null(answer);
  if (object.as<Node::Table>() == nullptr) return "the spawner gave an unknown answer";
  const auto* error = object.get<std::string>("error");
  return error == nullptr ? std::nullopt : std::optional{*error};
}

std::vector<OpenAsk> parse_asks(std::string_view answer) {
  std::vector<OpenAsk> asks;
  const auto object = config::json_or_null(answer);
  for (const auto& one : object.list("asks")) {
    asks.push_back(
        {one.text("id"), one.text("agent"), one.text("host"), one.number("port").value_or(0)});
  }
  return asks;
}

State state_of(std::string_view run_status, bool waits) noexcept {
  if (run_status == "running") return waits ? State::auth_required : State::working;
  if (run_status == "completed") return State::completed;
  return run_status == "canceled" ? State::canceled : State::failed;
}

Task task_of(const WorkerStatus& worker, const RunStatus& run, const OpenAsk* waits) {
  Task task;
  task.id = task_id(worker, run.number);
  task.context = worker.id;
  task.state = state_of(run.status, waits != nullptr);
  task.time = (run.ended_at != 0 ? run.ended_at : run.started_at) * micros_in_second;
  if (task.state == State::auth_required) {
    task.explanation = "A request to " + waits->host + ':' + std::to_string(waits->port) +
                       " waits for a person: stile approve " + waits->id + ", or stile refuse " +
                       waits->id;
  } else if (task.state == State::failed && run.exit_status) {
    task.explanation = "The task ended with exit status " + std::to_string(*run.exit_status);
  }
  return task;
}

std::string task_id(const WorkerStatus& worker, std::uint64_t run) {
  return std::to_string(worker.started_at) + '-' + std::to_string(run);
}

std::optional<std::uint64_t> run_of(const WorkerStatus& worker, std::string_view id) {
  const auto start = std::to_string(worker.started_at) + '-';
  if (!id.starts_with(start)) return std::nullopt;
  const auto digits = id.substr(start.size());
  std::uint64_t number = 0;
  const auto* end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, number);
  if (problem != std::errc{} || stop != end || number == 0) return std::nullopt;
  if (task_id(worker, number) != id) return std::nullopt;  // "007" is another text for 7
  return number;
}

}  // namespace stile::a2a
