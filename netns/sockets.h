// sockets: TCP connections that the host has with an agent's address.
#pragma once

#include "acl/address.h"
#include "acl/result.h"

namespace stile::netns {

// Ends them, whoever holds them. The next owner of the address must not receive what was meant for
// this one, and a daemon that hangs must not decide about that. Returns how many; 0 as well on a
// kernel that cannot do it (CONFIG_INET_DIAG_DESTROY).
[[nodiscard]] Result<int> close_sockets_with(const acl::Address& peer);

}  // namespace stile::netns
