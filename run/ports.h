// ports: ports of the host's loopback that lead to the command (--publish), and ports of its
// loopback that lead to the host (--host-port).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "run/identity.h"
#include "run/options.h"

namespace stile::run {

// For people and for the log: one line for each port.
[[nodiscard]] std::vector<std::string> ports_text(const Options& options);

// Listens on 127.0.0.1 of the calling process's network namespace.
[[nodiscard]] Result<std::vector<UniqueFd>> listen_on(const std::vector<std::uint16_t>& ports,
                                                      std::string_view where);

// Takes connections of the listeners to the same ports of 127.0.0.1, until this process ends. The
// relay is a process of its own, since a socket belongs to the network namespace in which it was
// made. Forks, so it must be called before any thread starts.
//
// `entered`: the process whose network namespace the relay enters; 0: it stays in this one. It
// enters no PID namespace, so that nothing inside can see or trace it: a listening socket of the
// host is a way out of the fence, because after a shutdown(2) it can be connected to any address.
[[nodiscard]] Result<void> start_relay(std::vector<UniqueFd> listeners,
                                       const std::vector<std::uint16_t>& ports,
                                       const Identity& identity, pid_t entered);

}  // namespace stile::run
