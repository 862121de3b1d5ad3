// watch: holds the fence up as long as it runs.
#pragma once

#include <linux/netlink.h>

#include <functional>
#include <string>

#include "acl/result.h"
#include "netns/host.h"

namespace stile::netns {

// An event after which the fence may not be whole: something of our table was deleted or changed, a
// device's forwarding or reverse path filter was set, an address was removed. Pure.
[[nodiscard]] bool may_open_fence(const nlmsghdr& event, int protocol);

// Follows the kernel's events and restores what is missing at once, and looks at everything once a
// minute, since not every sysctl tells of its change. Calls `ready` when the fence stands for the
// first time, `say` with what was done. Returns only with an error.
[[nodiscard]] Error watch(Host& host, const std::function<void()>& ready,
                          const std::function<void(const std::string&)>& say);

// "READY=1" to systemd, if it started us and waits for that.
void notify_systemd();

}  // namespace stile::netns
