// supervise: runs one command, passes signals on to it, and tells how it ended.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

namespace stile::netns {

// Exit statuses as env(1) has them.
inline constexpr int own_failure = 125;
inline constexpr int cannot_invoke = 126;
inline constexpr int not_found = 127;
inline constexpr int signal_base = 128;

// Signals that are passed on. Blocked from here on, so that none is lost between fork and wait.
// Returns the mask from before, for the command.
[[nodiscard]] sigset_t block_signals();

// Waits until that child has ended, passing signals on to it, and burying whatever else ends: the
// first process of a PID namespace inherits all orphans. The child's exit status, or 128+n.
[[nodiscard]] int supervise(pid_t child);

// Becomes the command, found along PATH; returns only if it cannot, with the status to exit with.
[[nodiscard]] int become(const std::vector<std::string>& command,
                         const std::vector<std::string>& environment, const sigset_t& mask);

}  // namespace stile::netns
