// RunningCopy: the process that `-k` signals.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::squid {

class RunningCopy {
 public:
  // The process that holds the lock on the pid file, or why there is none. The daemon may be able
  // to replace that file. So for root, the process must also run as `user`, or as the owner of the
  // file if that is not root: then root sends no signal that the daemon could not send.
  static Result<RunningCopy> find(const std::string& pid_file, const std::string& user);

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // 0 only checks whether a signal can be sent.
  [[nodiscard]] Result<void> signal(int number) const;
  // Waits until the process ends. False: it still runs.
  [[nodiscard]] bool ends_within(std::chrono::milliseconds time) const;

 private:
  RunningCopy(pid_t pid, UniqueFd process) : pid_{pid}, process_{std::move(process)} {}
  pid_t pid_;
  UniqueFd process_;  // a pidfd: stays with this process even if the id is reused
};

}  // namespace stile::squid
