// Keeper: the process outside a worker that starts its tasks and holds what they write.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "netns/task_channel.h"
#include "netns/task_groups.h"
#include "worker/file.h"
#include "worker/request.h"
#include "worker/runs.h"

namespace stile::netns {

// Reads bytes of the worker only into buffers, and never parses them.
class Keeper {
 public:
  struct Parts {
    UniqueFd channel;  // leads to the first process inside, `child`
    pid_t child = -1;
    uid_t owner = 0;  // who may open the streams of tasks again by name
    UniqueFd workspace;
  };
  static Result<std::unique_ptr<Keeper>> make(const worker::WorkerFile& file, Parts parts);
  // Returns the exit status.
  [[nodiscard]] int keep();

 private:
  using Clock = std::chrono::steady_clock;
  // A client of the socket: one request, one answer.
  struct Caller {
    UniqueFd fd;
    std::string received;
    std::optional<worker::TaskRequest> waiting;  // for output
    Clock::time_point deadline{};                // of the request, or of the waiting
    std::string answer;                          // what is still to be sent
    bool is_done = false;
  };

  Keeper(const worker::WorkerFile& file, Parts parts);
  Result<void> start(Order::Kind kind, std::uint64_t run, std::string_view message);
  Result<void> start_in_group(const Order& order, const Streams& streams);
  void wait_until_started(std::uint64_t run);
  void turn();
  void take_callers();
  void read_from(Caller& caller);
  void answer(Caller& caller, std::string text);
  void flush(Caller& caller);
  [[nodiscard]] std::string do_run(const worker::TaskRequest& request);
  [[nodiscard]] std::string do_cancel(const worker::TaskRequest& request);
  [[nodiscard]] std::string do_files(const worker::TaskRequest& request);
  [[nodiscard]] worker::ChangedFiles changed_by(std::uint64_t run) const;
  void serve(Caller& caller, worker::TaskRequest request);
  void answer_waiting();
  void read_output(std::uint64_t run);
  [[nodiscard]] bool has_report(std::chrono::milliseconds longest) const;
  std::optional<TaskReport> take_report();
  void take_signals();
  void kill_overdue();
  void end_all();
  [[nodiscard]] int time_to_next() const;

  bool has_command_, has_tasks_;
  UniqueFd channel_, signals_, listener_;
  pid_t child_;
  uid_t owner_, caller_;
  UniqueFd workspace_;
  worker::Runs runs_;
  TaskGroups groups_;
  std::map<std::uint64_t, UniqueFd> outputs_;              // of running tasks
  std::map<std::uint64_t, Clock::time_point> kill_times_;  // of canceled tasks
  std::map<std::uint64_t, timespec> starts_;               // of running tasks, by file_clock()
  std::list<Caller> callers_;
  std::optional<Clock::time_point> end_by_;  // after SIGTERM
  std::optional<int> status_;                // ends the loop
};

}  // namespace stile::netns
