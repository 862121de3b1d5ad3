// AdminHttp: /metrics, /healthz and /readyz on their own address, never on the proxy's port.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/accept_loop.h"

namespace stile::server {

class AdminHttp {
 public:
  struct Pages {
    // Calls back on the same io_context, with an empty text if the numbers are not available.
    std::function<void(std::function<void(std::string)>)> metrics;
    std::function<bool()> is_ready;
  };
  AdminHttp(boost::asio::ip::tcp::acceptor acceptor, Pages pages);

  // Connections that are open are served to their end.
  void stop_accepting() { connections_.close(); }
  [[nodiscard]] int listener() noexcept { return connections_.fd(); }

 private:
  Pages pages_;
  std::shared_ptr<int> open_;  // number of open connections; bounded
  AcceptLoop<boost::asio::ip::tcp> connections_;
};

}  // namespace stile::server
