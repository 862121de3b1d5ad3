// serve_pages: answers browsers on loopback or a unix socket.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

#include "base/http_connection.h"
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
};

[[nodiscard]] std::unique_ptr<HttpServer> serve_pages(HttpServer::Acceptor acceptor, Site& site);

}  // namespace stile::web
