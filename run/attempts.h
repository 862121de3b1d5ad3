// Attempts: counts the command's attempts to reach the network without the proxy.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/unique_fd.h"

namespace stile::run {

// Reads the kernel's counters of the network namespace. There is no route and no DNS server inside,
// so the kernel counts each attempt.
class Attempts {
 public:
  // Opens the counters of this process's namespace. They stay readable after it ends.
  explicit Attempts(pid_t process);
  // 0 if there were none, or if the counters cannot be read.
  [[nodiscard]] std::uint64_t count() const;

 private:
  UniqueFd v4_, v6_;
};

}  // namespace stile::run
