// seccomp: system calls that a confined command is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "acl/result.h"

namespace stile::confine {

// Compared with the argument's lower 32 bits, if the kernel reads no more of it.
struct Argument {
  enum class Is : std::uint8_t { equal, at_least };
  unsigned index = 0;
  Is is = Is::equal;
  std::uint32_t value = 0;
};

struct Refusal {
  int call = 0;
  int error = 0;  // what the command gets
  std::optional<Argument> when;
};

// Sockets of families that no network namespace confines (AF_VSOCK reaches a virtual machine's
// host), io_uring (it would make them unseen), and ioctls that type into the caller's terminal.
// Pure.
[[nodiscard]] std::vector<Refusal> refused_calls();

// For this process and all that it starts. Calls by another architecture's table end the process.
[[nodiscard]] Result<void> refuse_calls(const std::vector<Refusal>& refusals);

}  // namespace stile::confine
