// serve_connect: a CONNECT, from its head to a tunnel that relays.
#pragma once

#include "proxy/base/task.h"
#include "proxy/session/client.h"
#include "proxy/session/connector.h"
#include "proxy/session/request.h"

namespace stile::session {

// The head is still in client.in; `target` is a part of it. Afterwards the connection is closed, or
// client.has_left() and a tunnel owns it.
Task<> serve_connect(Client& client, Connector& connector, Request& request,
                     std::string_view target);

}  // namespace stile::session
