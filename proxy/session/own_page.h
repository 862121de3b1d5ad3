// serve_own_page: answers what an agent asks Stile itself, at http://stile.internal.
#pragma once

#include "proxy/base/task.h"
#include "proxy/http/head.h"
#include "proxy/session/client.h"
#include "proxy/session/connector.h"
#include "proxy/session/request.h"

namespace stile::session {

// Plain HTTP of an agent whose requests can be put to a person. No rule opens or closes this name:
// it is answered here and never looked up.
[[nodiscard]] bool is_for_stile_itself(const Client& client, const Request& request);

// The head is still in client.in. True: the connection can serve another request.
Task<bool> serve_own_page(Client& client, Connector& connector, Request& request,
                          const http::RequestHead& head);

}  // namespace stile::session
