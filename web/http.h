// HttpServer: answers browsers on loopback or a unix socket.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/accept_loop.h"
#include "base/waiting_clients.h"
#include "config/capability.h"
#include "web/a2a_exchange.h"
#include "web/control_link.h"
#include "web/feed.h"
#include "web/origin.h"
#include "web/sessions.h"

namespace stile::web {

// What all connections share.
struct Site {
  boost::asio::io_context& context;
  std::vector<Origin> origins;
  BrowserSessions& sessions;
  ControlLink& link;
  ControlLink* spawner;  // null: there is none
  Feed& feed;
  A2aBackend* backend;  // null: there is no spawner
  const config::CapabilityFiles& capabilities;
  std::shared_ptr<std::size_t> open = std::make_shared<std::size_t>(0);  // connections
  WaitingClients waiting{};  // those of them that are not being served
};

class HttpServer {
 public:
  static constexpr std::size_t max_connections = 128;

  using Connections = AcceptLoop<boost::asio::generic::stream_protocol>;
  using Acceptor = Connections::Acceptor;

  HttpServer(Acceptor acceptor, Site& site);

 private:
  Connections connections_;
};

}  // namespace stile::web
