// refuse: a refusal's line in the log, then its answer to the client.
#pragma once

#include "proxy/base/task.h"
#include "proxy/session/client.h"
#include "proxy/session/request.h"

namespace stile::session {

// Returns once the answer is sent; the caller then closes the connection unless keep_alive was
// asked for. False: not all of it was sent, and nothing more may follow.
Task<bool> refuse(Client& client, const Request& request, acl::Reason reason,
                  bool keep_alive = false);
// Only the answer: the line is already written.
Task<bool> answer_refusal(Client& client, const Request& request, acl::Reason reason,
                          bool keep_alive);
// After the 200 the client no longer expects HTTP: its TLS library gets an alert.
Task<> refuse_tunnel(Client& client, Request& request, acl::Reason reason);

}  // namespace stile::session
