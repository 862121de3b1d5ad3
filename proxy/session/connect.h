// serve_connect: a CONNECT, from its head to a tunnel that relays or is opened.
#pragma once

#include "proxy/base/task.h"
#include "proxy/session/client.h"
#include "proxy/session/connector.h"
#include "proxy/session/request.h"

namespace stile::session {

// The head is still in client.in; `target` is a part of it. True: the tunnel is opened, and the
// requests inside follow in client.stream. False: the connection is to be closed, or
// client.has_left() and a tunnel owns it.
Task<bool> serve_connect(Client& client, Connector& connector, Request& request,
                         std::string_view target);

}  // namespace stile::session
