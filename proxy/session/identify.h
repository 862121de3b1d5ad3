// identify: the agent that a connection or a question comes from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "acl/policy.h"
#include "proxy/net/sockaddr.h"

namespace stile::session {

// Who speaks on a listening socket.
struct Audience {
  std::optional<std::string> agent;  // the socket belongs to this agent
  bool is_elsewhere = false;  // in another network namespace, where addresses have another meaning
};

// Null: no agent, or one that another agent's listener does not serve.
[[nodiscard]] std::shared_ptr<const acl::AgentPolicy> identify(const acl::Snapshot& snapshot,
                                                               const Audience& audience,
                                                               const net::SockAddr& from);

// Whether a socket is in another network namespace than this process.
[[nodiscard]] bool is_in_another_namespace(int fd);

}  // namespace stile::session
