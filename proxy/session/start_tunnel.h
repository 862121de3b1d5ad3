// start_tunnel: the phases between the decision and a tunnel that CONNECT and captured connections
// share.
#pragma once

#include "proxy/base/task.h"
#include "proxy/session/client.h"
#include "proxy/session/connector.h"
#include "proxy/session/request.h"

namespace stile::session {

// Gathers the hello in client.in. An invalid hello is only noted: observe mode lets it pass. A
// returned reason ends the tunnel: the client is gone, or the request was cancelled.
Task<acl::Reason> read_hello(Client& client, Request& request, std::size_t& hello_bytes);

// Judges the hello under the policy in force and writes the `open` line. None: the first byte may
// go to the origin. A tunnel that is opened has no line: each request inside has one.
Task<acl::Reason> judge_and_log(Client& client, Connector& connector, Request& request);

// The client's TLS failed: writes the line, then sends the alert that TLS has made.
Task<> end_handshake(Client& client, const Request& request, acl::Reason reason);

}  // namespace stile::session
