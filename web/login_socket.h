// LoginSocket: gives a link that works once to every process that may connect to this unix socket.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <functional>
#include <string>

#include "base/accept_loop.h"
#include "base/unique_fd.h"

namespace stile::web {

class LoginSocket {
 public:
  // `new_link` makes the answer, one line.
  LoginSocket(boost::asio::io_context& context, UniqueFd listener,
              std::function<std::string()> new_link);

 private:
  AcceptLoop<boost::asio::local::stream_protocol> connections_;
};

}  // namespace stile::web
