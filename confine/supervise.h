// supervise: runs one command, passes signals on to it, and tells how it ended.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

namespace stile::confine {

// Exit statuses as env(1) has them.
inline constexpr int own_failure = 125;
inline constexpr int cannot_invoke = 126;
inline constexpr int not_found = 127;
inline constexpr int signal_base = 128;

// Signals that are passed on. Blocked from here on, so that none is lost between fork and wait.
// Returns the mask from before, for the command. Those of job control (stop) stay as they are: the
// command is in our process group, and what the terminal sends, it sends to both.
[[nodiscard]] sigset_t block_signals();

struct Supervised {
  pid_t child = 0;  // gets the signals; its end is the end
  std::function<void()> each_second = {};
};

// Waits until it has ended, passing signals on, and burying whatever else ends: the first process
// of a PID namespace inherits all orphans. Its exit status, or 128+n.
[[nodiscard]] int supervise(const Supervised& supervised);

// Becomes the command, found along PATH; returns only if it cannot, with the status to exit with.
[[nodiscard]] int become(std::vector<std::string> command, std::vector<std::string> environment,
                         const sigset_t& mask);

}  // namespace stile::confine
