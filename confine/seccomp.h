// seccomp: the system calls that a confined command may not use.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace stile::confine {

// Compared with the argument's lower 32 bits, if the kernel reads no more of it.
struct Argument {
  enum class Is : std::uint8_t { equal, at_least };
  unsigned index = 0;
  Is is = Is::equal;
  std::uint32_t value = 0;
};

struct RefusedCall {
  int call = 0;
  int error = 0;               // what the command gets; 0: it seems to work
  std::vector<Argument> when;  // all of them hold
};

// Refuses sockets of families that no network namespace confines (AF_VSOCK reaches a virtual
// machine's host), io_uring (it could create them without a filtered call), the kernel's keys (the
// user's keyring is not part of a namespace, and for a key of type dns_resolver the kernel starts a
// program of the host that asks the host's DNS servers), the kernel's messages (which some hosts
// show to every user), ioctls that type into the caller's terminal, and changes of the limit that
// keeps the kernel from starting a program of the host for a crash. Pure.
[[nodiscard]] std::vector<RefusedCall> refused_calls();

// For this process and its children. System calls of another architecture end the process.
[[nodiscard]] Result<void> refuse_calls(const std::vector<RefusedCall>& refusals);

}  // namespace stile::confine
