// send_action: `-k ACTION`; sends the signal and reports the result.
#include "squid/send_action.h"

#include <chrono>
#include <csignal>

#include "squid/account.h"
#include "squid/running_copy.h"

namespace stile::squid {
namespace {

using Action = CommandLine::Action;
using std::chrono::milliseconds, std::chrono::seconds, std::chrono::steady_clock;

constexpr milliseconds look_interval{20};
constexpr milliseconds interrupt_interval{50};
constexpr seconds longest_wait{60};  // large lists take seconds to read
constexpr seconds longest_interrupt{5};

int signal_of(Action action) {
  switch (action) {
    case Action::check:
      return 0;
    case Action::reconfigure:
      return SIGHUP;
    case Action::rotate:
      return SIGUSR1;
    case Action::interrupt:
      return SIGINT;
    case Action::kill:
      return SIGKILL;
    default:
      return SIGTERM;
  }
}

SignalOutcome await_outcome(const RunningCopy& copy, const OutcomeFile& file,
                            OutcomeFile::Action action, OutcomeFile::Time since,
                            const std::string& messages) {
  const std::string process = "process " + std::to_string(copy.pid());
  for (bool has_ended = false; steady_clock::now() < since + longest_wait;) {
    if (auto outcome = file.read(action, since)) return *outcome;
    if (has_ended) return {false, process + " has ended; see " + messages};
    has_ended = copy.ends_within(look_interval);
  }
  return {false, process + " did not answer within " + std::to_string(longest_wait.count()) +
                     " s, and the old rules may be in force; see " + messages};
}

// The daemon drains at the first SIGINT and exits at the second; squid exits at the first.
SignalOutcome interrupt(const RunningCopy& copy) {
  const auto until = steady_clock::now() + longest_interrupt;
  while (!copy.ends_within(interrupt_interval)) {
    if (steady_clock::now() > until) {
      return {false, "process " + std::to_string(copy.pid()) + " has not ended; use -k kill"};
    }
    static_cast<void>(copy.signal(SIGINT));  // it may have just exited
  }
  return {true, {}};
}

}  // namespace

SignalOutcome send_action(Action action, const Conf& conf) {
  const auto copy = RunningCopy::find(conf.pid_file, account_of(conf));
  if (!copy) return {false, copy.error().message};
  const auto send = [&] { return copy->signal(signal_of(action)); };
  if (action != Action::reconfigure && action != Action::rotate) {
    if (auto sent = send(); !sent) return {false, sent.error().message};
    return action == Action::interrupt ? interrupt(*copy) : SignalOutcome{true, {}};
  }
  const auto file = OutcomeFile::open(conf.pid_file);
  if (!file) return {false, file.error().message};
  const auto now = steady_clock::now();
  if (auto sent = send(); !sent) return {false, sent.error().message};
  const auto about =
      action == Action::rotate ? OutcomeFile::Action::rotate : OutcomeFile::Action::reconfigure;
  return await_outcome(*copy, *file, about, now, conf.cache_log);
}

}  // namespace stile::squid
