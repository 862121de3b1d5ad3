// watch: keeps the fence intact while it runs.
#pragma once

#include <linux/netlink.h>

#include <functional>
#include <string>

#include "base/result.h"
#include "netns/host.h"

namespace stile::netns {

// An event that may have damaged the fence: something in our table was deleted or changed, a
// device's forwarding or reverse path filter was set, an address was removed. Pure.
[[nodiscard]] bool may_open_fence(const nlmsghdr& event, int protocol);

// Follows the kernel's events and restores what is missing immediately. Checks everything once a
// minute, since not every sysctl change causes an event. Calls `ready` when the fence is complete
// for the first time, and `say` with each change. Reads the config again before each look: `repair`
// uses the present one, and the two must not undo each other's work. Returns only with an error.
[[nodiscard]] Error watch(FenceHost& host, const std::function<Result<Setup>()>& read_config,
                          const std::function<void()>& ready,
                          const std::function<void(const std::string&)>& say);

// Sends "READY=1" to systemd, if systemd started us and waits for it.
void notify_systemd();

}  // namespace stile::netns
