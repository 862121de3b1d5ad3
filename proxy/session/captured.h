// serve_captured: a connection to an address that stands for a name, up to a tunnel that relays or
// is opened, or to its first request of plain HTTP.
#pragma once

#include "proxy/base/task.h"
#include "proxy/session/client.h"
#include "proxy/session/connector.h"
#include "proxy/session/request.h"

namespace stile::session {

// True: requests follow in client.stream: inside a tunnel that is opened, or plain ones, for
// client.captured. False: the connection is to be closed, or client.has_left() and a tunnel owns
// it.
Task<bool> serve_captured(Client& client, Connector& connector, Request& request);

}  // namespace stile::session
