// sockets: the host's TCP connections with an agent's address.
#pragma once

#include "acl/address.h"
#include "base/result.h"

namespace stile::netns {

// Closes them, in any process. The next owner of the address must not receive data meant for this
// one, even if the daemon hangs. Returns how many; also 0 on a kernel that does not support it
// (CONFIG_INET_DIAG_DESTROY).
[[nodiscard]] Result<int> close_sockets_with(const acl::Address& peer);

}  // namespace stile::netns
