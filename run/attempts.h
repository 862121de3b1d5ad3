// Attempts: how often the command tried to reach the network without the proxy.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "proxy/base/unique_fd.h"

namespace stile::run {

// From the kernel's own counters of the network namespace: there is no route inside and nobody who
// answers DNS, so that each attempt leaves its mark.
class Attempts {
 public:
  // Of the namespace that this process is in. The counters outlive it.
  explicit Attempts(pid_t process);
  // 0 if there were none, or if nobody can tell.
  [[nodiscard]] std::uint64_t count() const;

 private:
  UniqueFd v4_, v6_;
};

}  // namespace stile::run
