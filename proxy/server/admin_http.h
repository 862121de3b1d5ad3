// serve_admin: /metrics, /healthz and /readyz on their own address, never on the proxy's port.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/http_connection.h"

namespace stile::server {

struct AdminPages {
  // Calls back on the same io_context, with an empty text if the numbers are not available.
  std::function<void(std::function<void(std::string)>)> metrics;
  std::function<bool()> is_ready;
};

[[nodiscard]] std::unique_ptr<HttpServer> serve_admin(boost::asio::ip::tcp::acceptor acceptor,
                                                      const AdminPages& pages);

}  // namespace stile::server
