// LoginSocket: one line, then the end.
#include "web/login_socket.h"

#include <sys/socket.h>

#include <chrono>
#include <utility>

namespace stile::web {

namespace asio = boost::asio;

LoginSocket::LoginSocket(asio::io_context& context, UniqueFd listener,
                         std::function<std::string()> new_link)
    : acceptor_{context, asio::local::stream_protocol{}, listener.release()},
      pause_{context},
      new_link_{std::move(new_link)} {
  accept();
}

void LoginSocket::accept() {
  acceptor_.async_accept(
      [this](const boost::system::error_code& ec, asio::local::stream_protocol::socket socket) {
        if (ec == asio::error::operation_aborted) return;
        if (ec) {  // out of descriptors: an immediate retry would only waste CPU time
          pause_.expires_after(std::chrono::milliseconds{100});
          pause_.async_wait([this](const boost::system::error_code& stopped) {
            if (!stopped) accept();
          });
          return;
        }
        // The line fits into the buffer of a new socket, so this never waits.
        const auto line = new_link_() + '\n';
        (void)::send(socket.native_handle(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        accept();
      });
}

}  // namespace stile::web
