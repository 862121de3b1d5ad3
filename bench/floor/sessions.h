// The two kinds of session that the floor knows: a CONNECT tunnel (or its refusal) and plain GETs.
#pragma once

#include <netinet/in.h>

#include <memory>

#include "bench/floor/reactor.h"

namespace stile::bench {

struct RelayOptions {
  sockaddr_in origin{};
  bool splice = false;
  bool half_close = false;
  bool refuse = false;
};

std::unique_ptr<Session> make_relay(Reactor& loop, const RelayOptions& options);
std::unique_ptr<Session> make_forwarder(Reactor& loop, const sockaddr_in& origin);

}  // namespace stile::bench
