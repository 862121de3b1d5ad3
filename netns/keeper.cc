// Keeper: one loop over the worker's reports, its output, signals and the socket for tasks.
#include "netns/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/local_socket.h"
#include "base/system_error.h"
#include "netns/changes.h"

namespace stile::netns {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t most_callers = 64;
constexpr int most_waiting_callers = 16;
constexpr seconds caller_time{10};  // for a request to arrive and an answer to be read
constexpr milliseconds time_to_start{5000};
constexpr seconds time_to_end{5};  // between SIGTERM and SIGKILL
constexpr std::size_t most_read_at_once = 64U << 10U;

std::string error_answer(const std::string& message) {
  std::string out;
  JsonObject{out}.add("error", message);
  return out;
}

// A file in memory with the message: the task can take its time to read it.
Result<UniqueFd> make_input(std::string_view message) {
  const UniqueFd file{::memfd_create("message", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!file || !write_all(file.get(), message) ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) !=
          0) {
    return system_error("cannot keep the message");
  }
  UniqueFd reader{
      ::open(("/proc/self/fd/" + std::to_string(file.get())).c_str(), O_RDONLY | O_CLOEXEC)};
  if (!reader) return system_error("cannot open the message");
  return reader;
}

}  // namespace

Keeper::Keeper(const worker::WorkerFile& file, Parts parts)
    : has_command_{!file.command.empty()},
      has_tasks_{!file.task.empty()},
      channel_{std::move(parts.channel)},
      child_{parts.child},
      owner_{parts.owner},
      caller_{file.caller},
      workspace_{std::move(parts.workspace)},
      runs_{file.id, {std::max(file.max_tasks, 1U)}},
      groups_{TaskGroups::of_unit(file.id)} {}

Result<std::unique_ptr<Keeper>> Keeper::make(const worker::WorkerFile& file, Parts parts) {
  std::unique_ptr<Keeper> keeper{new Keeper{file, std::move(parts)}};
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&set, number);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  keeper->signals_ = UniqueFd{::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (!keeper->signals_) return system_error("cannot wait for signals");
  auto listener = listen_unix(file.socket, 0177, most_waiting_callers);
  if (!listener) return listener.error();
  keeper->listener_ = std::move(*listener);
  if (keeper->has_command_) {
    keeper->runs_.start_command(unix_micros());
    if (auto done = keeper->start(Order::Kind::start_command, worker::command_run, {}); !done) {
      return done.error();
    }
  }
  return Result<std::unique_ptr<Keeper>>{boost::system::in_place_value, std::move(keeper)};
}

Result<void> Keeper::start(Order::Kind kind, std::uint64_t run, std::string_view message) {
  auto input = make_input(message);
  if (!input) return input.error();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  UniqueFd reader{ends[0]};
  const Streams streams{std::move(*input), UniqueFd{ends[1]}};
  // Only our end: the worker's must wait when the pipe is full.
  if (::fcntl(reader.get(), F_SETFL, O_NONBLOCK) != 0) return system_error("cannot set up a pipe");
  // So that the task may open /dev/stdout, which is this pipe.
  if (::fchown(streams.output.get(), owner_, owner_) != 0) {
    return system_error("cannot set up a pipe");
  }
  outputs_[run] = std::move(reader);
  auto done = start_in_group({kind, 0, run}, streams);
  if (!done) outputs_.erase(run);
  return done;
}

// The first process inside forks the task, so it enters the group of the task for that moment.
Result<void> Keeper::start_in_group(const Order& order, const Streams& streams) {
  const bool has_group = order.kind == Order::Kind::start_task && groups_.enter(order.run, child_);
  const bool is_sent = send_order(channel_.get(), order, &streams);
  if (has_group) {
    if (is_sent) wait_until_started(order.run);
    groups_.leave(child_);
  }
  if (!is_sent) return Error{"the worker takes no order"};
  return {};
}

// No process inside can stop the first one, so this takes no longer than a fork.
void Keeper::wait_until_started(std::uint64_t run) {
  while (has_report(time_to_start)) {
    const auto taken = take_report();
    if (!taken || (taken->kind != TaskReport::Kind::ready && taken->run == run)) return;
  }
}

int Keeper::keep() {
  while (!status_) turn();
  answer_waiting();
  for (auto& caller : callers_) flush(caller);
  // The first process inside ends with the channel, and the kernel ends all others with it. After
  // this, nothing of the worker is left for systemd to wait for.
  channel_.reset();
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  return *status_;
}

int Keeper::time_to_next() const {
  auto next = Clock::time_point::max();
  for (const auto& caller : callers_) next = std::min(next, caller.deadline);
  for (const auto& [run, time] : kill_times_) next = std::min(next, time);
  if (end_by_) next = std::min(next, *end_by_);
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

void Keeper::turn() {
  std::vector<pollfd> ready{{channel_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
  // A full house waits in the backlog.
  ready.push_back({callers_.size() < most_callers ? listener_.get() : -1, POLLIN, 0});
  std::vector<std::uint64_t> runs;
  for (const auto& [run, fd] : outputs_) {
    ready.push_back({fd.get(), POLLIN, 0});
    runs.push_back(run);
  }
  const auto first_caller = ready.size();
  for (const auto& caller : callers_) {
    const auto events = static_cast<short>(caller.answer.empty() ? POLLIN : POLLOUT);
    ready.push_back({caller.fd.get(), events, 0});
  }
  if (::poll(ready.data(), ready.size(), time_to_next()) < 0) return;
  const auto is_ready = [&](std::size_t index) { return ready[index].revents != 0; };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (is_ready(3 + i)) read_output(runs[i]);
  }
  auto index = first_caller;
  for (auto& caller : callers_) {
    if (!is_ready(index++)) continue;
    if (caller.answer.empty()) {
      read_from(caller);
    } else {
      flush(caller);
    }
  }
  if (is_ready(0) && has_report(milliseconds{0}))
    take_report();  // a caller's task may have taken it
  if (is_ready(1)) take_signals();
  if (is_ready(2)) take_callers();
  kill_overdue();
  answer_waiting();
  std::erase_if(callers_, [](const Caller& caller) { return caller.is_done; });
}

void Keeper::take_callers() {
  UniqueFd fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  if (!fd) return;
  callers_.push_back({std::move(fd), {}, {}, Clock::now() + caller_time, {}, false});
}

void Keeper::read_from(Caller& caller) {
  std::array<char, most_read_at_once> bytes;
  const auto got = ::recv(caller.fd.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    caller.is_done = true;
    return;
  }
  if (caller.waiting) return;  // one request, one answer
  caller.received.append(bytes.data(), static_cast<std::size_t>(got));
  const auto end = caller.received.find('\n');
  if (end == std::string::npos) {
    if (caller.received.size() > worker::max_request_bytes) caller.is_done = true;
    return;
  }
  auto request = worker::parse_request(std::string_view{caller.received}.substr(0, end));
  if (!request) return answer(caller, error_answer(request.error().message));
  serve(caller, std::move(*request));
}

void Keeper::answer(Caller& caller, std::string text) {
  caller.answer = std::move(text) + '\n';
  caller.waiting.reset();
  caller.deadline = Clock::now() + caller_time;
  flush(caller);
}

void Keeper::flush(Caller& caller) {
  if (caller.answer.empty()) return;
  const auto sent =
      ::send(caller.fd.get(), caller.answer.data(), caller.answer.size(), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
  caller.answer.erase(0, sent < 0 ? std::string::npos : static_cast<std::size_t>(sent));
  caller.is_done = caller.answer.empty();
}

std::string Keeper::do_run(const worker::TaskRequest& request) {
  if (!has_tasks_) return error_answer("the worker's template has no task command");
  if (end_by_) return error_answer("the worker is being terminated");
  const auto run = runs_.start(unix_micros());
  if (!run) return error_answer(run.error().message);
  starts_[*run] = file_clock();
  if (const auto done = start(Order::Kind::start_task, *run, request.message); !done) {
    starts_.erase(*run);
    runs_.end(*run, 125, unix_micros());
    return error_answer(done.error().message);
  }
  return runs_.state_of(*runs_.find(*run));
}

std::string Keeper::do_cancel(const worker::TaskRequest& request) {
  auto* run = runs_.find(request.run);
  if (run == nullptr) return error_answer("there is no such task");
  if (run->number == worker::command_run) {
    return error_answer("this is the worker's command; terminate the worker");
  }
  if (run->state == worker::RunState::running && !run->is_canceled) {
    run->is_canceled = true;
    static_cast<void>(
        send_order(channel_.get(), {Order::Kind::signal, SIGTERM, run->number}, nullptr));
    kill_times_[run->number] = Clock::now() + time_to_end;
  }
  return runs_.state_of(*run);
}

worker::ChangedFiles Keeper::changed_by(std::uint64_t run) const {
  const auto start = starts_.find(run);
  if (start == starts_.end()) return {};  // the command
  return changed_since(workspace_.get(), start->second, caller_);
}

std::string Keeper::do_files(const worker::TaskRequest& request) {
  const auto* run = runs_.find(request.run);
  if (run == nullptr) return error_answer("there is no such task");
  const bool is_running = run->state == worker::RunState::running;
  return runs_.files_of(*run, is_running ? changed_by(run->number) : run->changed);
}

void Keeper::serve(Caller& caller, worker::TaskRequest request) {
  switch (request.action) {
    case worker::TaskAction::run:
      return answer(caller, do_run(request));
    case worker::TaskAction::cancel:
      return answer(caller, do_cancel(request));
    case worker::TaskAction::runs:
      return answer(caller, runs_.all());
    case worker::TaskAction::files:
      return answer(caller, do_files(request));
    case worker::TaskAction::output:
      break;
  }
  const auto* run = runs_.find(request.run);
  if (run == nullptr) return answer(caller, error_answer("there is no such task"));
  request.run = run->number;
  caller.deadline = Clock::now() + seconds{request.wait_seconds};
  caller.waiting = std::move(request);
}

// Answers if there is output or the end, and at the latest when the waiting is over.
void Keeper::answer_waiting() {
  const auto now = Clock::now();
  for (auto& caller : callers_) {
    if (!caller.waiting) {
      if (caller.deadline <= now) caller.is_done = true;
      continue;
    }
    const auto* run = runs_.find(caller.waiting->run);
    if (run == nullptr) {
      answer(caller, error_answer("there is no such task"));
    } else if (run->state != worker::RunState::running || caller.deadline <= now || status_ ||
               run->output.has_text_after(caller.waiting->cursor, false)) {
      answer(caller, runs_.output_of(*run, caller.waiting->cursor));
    }
  }
}

void Keeper::read_output(std::uint64_t run) {
  std::array<char, most_read_at_once> bytes;
  const auto got = ::read(outputs_[run].get(), bytes.data(), bytes.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    outputs_.erase(run);
    return;
  }
  const std::string_view text{bytes.data(), static_cast<std::size_t>(got)};
  runs_.append(run, text);
  // The journal has what the worker's command says.
  if (run == worker::command_run) static_cast<void>(write_all(STDOUT_FILENO, text));
}

bool Keeper::has_report(milliseconds longest) const {
  pollfd report{channel_.get(), POLLIN, 0};
  return ::poll(&report, 1, static_cast<int>(longest.count())) > 0;
}

// nullopt: the first process inside has ended.
std::optional<TaskReport> Keeper::take_report() {
  const auto report = receive_report(channel_.get());
  if (!report) {
    channel_.reset();  // SIGCHLD follows
    return std::nullopt;
  }
  if (report->kind != TaskReport::Kind::ended) return report;
  // What it wrote before its end. A process that it left behind may hold the pipe open.
  for (int i = 0; i < 64 && outputs_.count(report->run) != 0; ++i) {
    pollfd left{outputs_[report->run].get(), POLLIN, 0};
    if (::poll(&left, 1, 0) <= 0) break;
    read_output(report->run);
  }
  outputs_.erase(report->run);
  // Those that left its session, too.
  if (kill_times_.erase(report->run) != 0) groups_.kill(report->run);
  groups_.forget(report->run);
  runs_.end(report->run, report->exit_status, unix_micros(), changed_by(report->run));
  starts_.erase(report->run);
  if (has_command_ && report->run == worker::command_run) status_ = report->exit_status;
  if (end_by_ && runs_.running().empty()) status_ = 0;
  return report;
}

void Keeper::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGCHLD) end_all();
  }
  int how = 0;
  if (::waitpid(child_, &how, WNOHANG) == child_) status_ = end_by_ ? 0 : 1;
}

void Keeper::end_all() {
  if (end_by_) return;
  end_by_ = Clock::now() + time_to_end;
  const auto running = runs_.running();
  for (const auto run : running) {
    static_cast<void>(send_order(channel_.get(), {Order::Kind::signal, SIGTERM, run}, nullptr));
  }
  if (running.empty()) status_ = 0;
}

void Keeper::kill_overdue() {
  const auto now = Clock::now();
  if (end_by_ && *end_by_ <= now) status_ = 0;
  std::erase_if(kill_times_, [&](const auto& entry) {
    if (entry.second > now) return false;
    groups_.kill(entry.first);
    static_cast<void>(
        send_order(channel_.get(), {Order::Kind::signal, SIGKILL, entry.first}, nullptr));
    return true;
  });
}

}  // namespace stile::netns
