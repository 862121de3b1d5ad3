// powers: what a process gives up before it becomes a confined command.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace stile::confine {

// The remaining capabilities in the command's own user namespace.
enum class Powers : std::uint8_t { none, all_inside };

// The last step: gives up the caller's keys, capabilities, the way to get new ones, core dumps, all
// descriptors except the standard ones, and the system calls of seccomp.h. Fails if a standard
// descriptor is a directory.
[[nodiscard]] Result<void> give_up(Powers left);

}  // namespace stile::confine
