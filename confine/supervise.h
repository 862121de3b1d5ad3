// supervise: runs one command, forwards signals to it, and returns how it ended.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

namespace stile::confine {

// Exit statuses as in env(1).
inline constexpr int own_failure = 125;
inline constexpr int cannot_invoke = 126;
inline constexpr int not_found = 127;
inline constexpr int signal_base = 128;

// Blocks the signals that are forwarded, so that none is lost between fork and wait. Returns the
// previous mask, for the command. Job control (stop) signals are unchanged: the command is in our
// process group, and the terminal signals both.
[[nodiscard]] sigset_t block_signals();

// Sent from outside to the first process of a PID namespace that supervises with `can_pause`: it
// stops and continues all other processes there. Only from inside does one call reach them all,
// also those that are just being forked.
[[nodiscard]] int pause_signal();
[[nodiscard]] int resume_signal();

struct Supervised {
  pid_t child = 0;  // gets the signals; supervision ends with it
  std::function<void()> each_second = {};
  std::function<void(int)> on_signal = {};  // also those that the terminal sends to all
  bool can_pause = false;                   // only for the first process of a PID namespace
};

// Waits until the child has ended, forwards signals, and reaps all other processes: the first
// process of a PID namespace inherits all orphans. Returns the child's exit status, or 128+n.
[[nodiscard]] int supervise(const Supervised& supervised);

// Executes the command, found along PATH; returns only on failure, with the exit status.
[[nodiscard]] int become(std::vector<std::string> command, std::vector<std::string> environment,
                         const sigset_t& mask);

}  // namespace stile::confine
