// seccomp: system calls that lead around a network namespace.
#pragma once

#include "acl/result.h"

namespace stile::netns {

// For the calling process and all that it starts, for good; needs no_new_privs. Refused are:
// - sockets of families that no network namespace confines, AF_VSOCK above all, with which a guest
//   reaches its hypervisor: all but unix, IPv4, IPv6, netlink and packet sockets;
// - io_uring, which makes sockets without this filter seeing it;
// - the ioctls that put characters into the terminal of whoever started the command;
// - system calls of another architecture, whose numbers would mean something else.
[[nodiscard]] Result<void> confine_system_calls();

}  // namespace stile::netns
