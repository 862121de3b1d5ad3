// worker_inside: the first process in a worker.
#include "netns/worker_inside.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>

#include "base/unique_fd.h"
#include "confine/supervise.h"
#include "netns/task_channel.h"

namespace stile::netns {
namespace {

constexpr int channel = STDIN_FILENO;

class Inside {
 public:
  explicit Inside(const InsideWorker& worker) : worker_{worker} {}

  int serve() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGCHLD);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    const UniqueFd children{::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (!children || !send_report(channel, {TaskReport::Kind::ready, 0, 0})) {
      return confine::own_failure;
    }
    while (true) {
      std::array<pollfd, 2> ready{{{channel, POLLIN, 0}, {children.get(), POLLIN, 0}}};
      if (::poll(ready.data(), ready.size(), -1) < 0) continue;
      if (ready[1].revents != 0) {
        signalfd_siginfo ignored{};
        while (::read(children.get(), &ignored, sizeof ignored) > 0) {
        }
        reap();
      }
      if (ready[0].revents != 0 && !obey()) return 0;
    }
  }

 private:
  bool obey() {
    Streams streams;
    const auto order = receive_order(channel, streams);
    if (!order) return false;
    if (order->kind == Order::Kind::signal) {
      const auto found = processes_.find(order->run);
      // A process that has just been forked has no session yet.
      if (found != processes_.end() && ::kill(-found->second, order->signal) != 0) {
        ::kill(found->second, order->signal);
      }
      return true;
    }
    const auto& command =
        order->kind == Order::Kind::start_command ? worker_.command : worker_.task;
    const pid_t child = ::fork();
    if (child == 0) ::_exit(become(command, streams));
    if (child < 0)
      return send_report(channel, {TaskReport::Kind::ended, confine::own_failure, order->run});
    processes_[order->run] = child;
    return send_report(channel, {TaskReport::Kind::started, 0, order->run});
  }

  // A session of its own, so that one signal reaches all of a task.
  int become(const std::vector<std::string>& command, const Streams& streams) const {
    ::setsid();
    if (::dup2(streams.input.get(), STDIN_FILENO) < 0 ||
        ::dup2(streams.output.get(), STDOUT_FILENO) < 0 ||
        ::dup2(streams.output.get(), STDERR_FILENO) < 0) {
      return confine::own_failure;
    }
    return confine::become(command, worker_.environment, worker_.mask);
  }

  // Also processes that lost their parent: they belong to no run.
  void reap() {
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      for (const auto& [run, process] : processes_) {
        if (process != ended) continue;
        const int code =
            WIFEXITED(status) ? WEXITSTATUS(status) : confine::signal_base + WTERMSIG(status);
        static_cast<void>(send_report(channel, {TaskReport::Kind::ended, code, run}));
        processes_.erase(std::uint64_t{run});
        break;
      }
    }
  }

  const InsideWorker& worker_;
  std::map<std::uint64_t, pid_t> processes_;
};

}  // namespace

int serve_inside(const InsideWorker& worker) { return Inside{worker}.serve(); }

}  // namespace stile::netns
