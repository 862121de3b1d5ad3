// decide_name: may an agent reach a name at all, on some port and in some way? Pure.
#pragma once

#include <string_view>

#include "acl/decide.h"

namespace stile::acl {

// Runs decide() for every port that the agent's lists or a pattern for this name could allow, and
// returns the first decision that passes, else the first that refuses. So a name resolves exactly
// if some request to it would pass steps 1 to 6. Budgets do not count: the connection is refused
// then, with that reason. In observe mode every valid name passes, and so does one that a person
// would be asked about: its connection is held. An ordered list depends on more than the name, so
// it passes here and decides about each connection.
[[nodiscard]] Decision decide_name(const AgentPolicy* agent, std::string_view name,
                                   const Address& source, UnixMicros now);

// Whether a connection to this name and port carries plain HTTP: the port is in `http_ports`, or an
// http:// pattern for the name has it. In observe mode, port 80 does if no other list has it.
[[nodiscard]] bool speaks_http(const AgentPolicy& agent, const Host& host, std::uint16_t port,
                               UnixMicros now);

}  // namespace stile::acl
