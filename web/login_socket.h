// LoginSocket: gives a link that works once to every process that may connect to this unix socket.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>

#include "base/unique_fd.h"

namespace stile::web {

class LoginSocket {
 public:
  // `new_link` makes the answer, one line.
  LoginSocket(boost::asio::io_context& context, UniqueFd listener,
              std::function<std::string()> new_link);

 private:
  void accept();
  boost::asio::local::stream_protocol::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::function<std::string()> new_link_;
};

}  // namespace stile::web
