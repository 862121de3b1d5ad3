// The kinds of session that the floor knows: a CONNECT tunnel (or its refusal), plain GETs, and a
// tunnel whose TLS is opened.
#pragma once

#include <netinet/in.h>
#include <openssl/ssl.h>

#include <memory>

#include "bench/floor/reactor.h"

namespace stile::bench {

struct RelayOptions {
  sockaddr_in origin{};
  bool splice = false;
  bool half_close = false;
  bool refuse = false;
};

struct TerminateOptions {
  sockaddr_in origin{};
  SSL_CTX* server = nullptr;
  SSL_CTX* client = nullptr;
};

std::unique_ptr<Session> make_relay(Reactor& loop, const RelayOptions& options);
std::unique_ptr<Session> make_forwarder(Reactor& loop, const sockaddr_in& origin);
std::unique_ptr<Session> make_terminator(Reactor& loop, const TerminateOptions& options);

}  // namespace stile::bench
