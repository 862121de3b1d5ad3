// A2aExchange, the output of a task: read until there is enough of it, or sent as a stream.
#include <algorithm>
#include <string>
#include <utility>

#include "base/json.h"
#include "web/a2a_exchange.h"

namespace stile::web {
namespace {

using namespace std::chrono_literals;
using a2a::Dialect, a2a::Operation, a2a::Problem;

constexpr std::size_t max_output_bytes = 256U << 10U;  // what a worker keeps of a task
constexpr auto longest_quiet = 15s;
// A request that begins to wait for a person is told at most this much later.
constexpr unsigned wait_seconds = 1;

}  // namespace

void A2aExchange::read_output(Goal goal) {
  goal_ = goal;
  poll();
}

void A2aExchange::poll() {
  std::string line;
  JsonObject{line}
      .add("action", "output")
      .add("task_id", request_.worker)
      .add("run", run_)
      .add("cursor", cursor_)
      .add("wait_seconds", goal_ == Goal::now ? 0U : wait_seconds);
  ask(std::move(line), Problem::task_not_found,
      [self = shared_from_this()](const std::string& answer) {
        const auto piece = a2a::parse_piece(answer);
        if (!piece) return self->fail({Problem::internal, "The spawner gave an unknown answer"});
        self->take_piece(*piece);
      });
}

bool A2aExchange::is_read(const a2a::Piece& piece, const a2a::Task& task) const {
  const bool has_ended = a2a::is_over(task.state);
  // What an ended task wrote is read to its end. A task that runs can write for ever.
  if (!piece.text.empty() && (has_ended || goal_ == Goal::stream)) return false;
  const bool is_enough = piece.text.empty() || output_.text.size() == max_output_bytes;
  switch (goal_) {
    case Goal::now:
      return is_enough;
    case Goal::until_interrupted:
      if (is_enough && task.state == a2a::State::auth_required) return true;
      [[fallthrough]];
    case Goal::until_end:
      return has_ended || Clock::now() >= deadline_;
    case Goal::stream:
      break;
  }
  return has_ended;
}

void A2aExchange::take_piece(const a2a::Piece& piece) {
  cursor_ = piece.cursor;
  auto task = task_of(piece.run);
  if (goal_ == Goal::stream) return send_piece(piece, task);
  output_.missed += piece.missed;
  output_.text += piece.text;
  output_.files = piece.files;
  output_.has_more_files = piece.has_more_files;
  if (output_.text.size() > max_output_bytes) {
    const auto extra = output_.text.size() - max_output_bytes;
    output_.text.erase(0, extra);
    output_.missed += extra;
  }
  if (!is_read(piece, task)) return poll();
  if (call_.operation == Operation::subscribe) {
    if (a2a::is_over(task.state)) {
      return fail({Problem::unsupported_operation, "The task has ended; get it instead"});
    }
    has_sent_output_ = !output_.text.empty();
    return begin_stream();
  }
  task.output = std::move(output_);
  finish(task);
}

void A2aExchange::begin_stream() {
  is_streaming_ = true;
  goal_ = Goal::stream;
  client_->begin_stream([self = shared_from_this()] {
    const auto* run = self->worker_.find(self->run_);
    auto task = self->task_of(run == nullptr ? a2a::RunStatus{} : *run);
    if (!self->output_.text.empty()) task.output = std::move(self->output_);
    self->shown_ = task.state;
    self->last_sent_ = Clock::now();
    if (self->call_.operation == Operation::follow_latest) return self->poll();
    std::string frames;
    self->add_event(frames, "task.status", a2a::task_event(task, self->call_.dialect));
    self->client_->write(std::move(frames), [self] { self->poll(); });
  });
}

void A2aExchange::send_piece(const a2a::Piece& piece, const a2a::Task& task) {
  const bool is_over = is_read(piece, task);
  std::string frames;
  if (!piece.text.empty() && call_.operation == Operation::follow_latest) {
    std::string_view rest = piece.text;
    while (!rest.empty()) {
      const auto end = std::min(rest.find_first_of("\r\n"), rest.size());  // either ends a line
      frames.append("data: ").append(rest.substr(0, end)).append("\n\n");
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  } else if (!piece.text.empty()) {
    add_event(
        frames, "task.message",
        a2a::output_event(task, {piece.text, piece.missed}, !has_sent_output_, call_.dialect));
    has_sent_output_ = true;
  }
  a2a::Task ended = task;
  if (is_over) {
    ended.output = a2a::TaskOutput{{}, 0, piece.files, piece.has_more_files};
    if (!piece.files.empty() && call_.dialect != Dialect::plain) {
      add_event(frames, "", a2a::files_event(task, *ended.output, call_.dialect));
    }
  }
  const bool has_news = is_over || (!a2a::is_over(task.state) && shown_ != task.state);
  if (has_news && call_.operation != Operation::follow_latest) {
    shown_ = task.state;
    add_event(frames, "task.status", a2a::status_event(ended, call_.dialect));
  }
  if (frames.empty() && !is_over && Clock::now() - last_sent_ < longest_quiet) return poll();
  if (frames.empty()) frames = ": still here\n\n";
  last_sent_ = Clock::now();
  client_->write(std::move(frames), [self = shared_from_this(), is_over] {
    if (is_over) return self->client_->end();
    self->poll();
  });
}

// The id of an event is the place in the output, where a new stream goes on.
void A2aExchange::add_event(std::string& out, std::string_view name,
                            const std::string& data) const {
  if (call_.dialect == Dialect::plain) out.append("event: ").append(name).append("\n");
  out.append("id: ").append(std::to_string(cursor_)).append("\ndata: ");
  out.append(read_.is_rpc ? a2a::rpc_result(data, read_.id) : data).append("\n\n");
}

}  // namespace stile::web
