// AdminHttp: /metrics, /healthz and /readyz on their own address, never on the proxy's port.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

namespace stile::server {

class AdminHttp {
 public:
  struct Pages {
    // Calls back on the same io_context, with an empty text if the numbers are not available.
    std::function<void(std::function<void(std::string)>)> metrics;
    std::function<bool()> is_ready;
  };
  AdminHttp(boost::asio::io_context& context, boost::asio::ip::tcp::acceptor acceptor, Pages pages);

  // Connections that are open are served to their end.
  void stop_accepting();
  [[nodiscard]] int listener() noexcept { return acceptor_.native_handle(); }

 private:
  void accept();
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  Pages pages_;
  std::shared_ptr<int> open_;  // number of open connections; bounded
};

}  // namespace stile::server
