// Rendezvous: where a daemon that outlives `systemctl restart` meets the process that systemd
// starts.
//
// It is a pair of sockets. systemd keeps one end in the store of the service, gives it to each
// process that it starts for this restart, and closes it when the service is stopped or has failed
// for good.
#pragma once

#include "base/result.h"
#include "proxy/server/handover_link.h"

namespace stile::server {

inline constexpr const char* rendezvous_name = "stiled.rendezvous";  // no agent has a dot

// The end of the old process. An error: systemd does not keep the other one.
[[nodiscard]] Result<HandoverLink> leave_rendezvous();

// The end of the new process, if a daemon waits at the other one. Call it before other sockets of
// systemd are taken.
[[nodiscard]] HandoverLink take_rendezvous();

}  // namespace stile::server
