// open_tls: Stile as an end of TLS, towards the client of an opened tunnel and towards its origins.
#pragma once

#include "proxy/base/task.h"
#include "proxy/intercept/interceptor.h"
#include "proxy/session/client.h"
#include "proxy/session/request.h"

namespace stile::session {

// Client.in holds the hello, which was judged. None: from here on client.stream is what is inside,
// and client.inside the authority of every request in it. Any reason ends the connection: a tunnel
// that should be opened is never relayed. The alert of a failed handshake is then unsent.
Task<acl::Reason> open_client_tls(Client& client, const Request& request);

// TLS with the origin of an allowed request inside, over a connected socket.
Task<acl::Reason> open_origin_tls(Client& client, Request& request, net::Stream& origin);

}  // namespace stile::session
