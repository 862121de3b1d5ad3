// AcceptLoop: takes connections from a listening socket, on an io_context of Asio.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <utility>

namespace stile {

template <class Protocol>
class AcceptLoop {
 public:
  using Acceptor = boost::asio::basic_socket_acceptor<Protocol>;
  using Socket = typename Protocol::socket;

  // `take` owns the connection, and may drop it. The loop outlives the run of its io_context.
  AcceptLoop(Acceptor acceptor, std::function<void(Socket)> take)
      : acceptor_{std::move(acceptor)}, pause_{acceptor_.get_executor()}, take_{std::move(take)} {
    accept();
  }
  AcceptLoop(const AcceptLoop&) = delete;
  AcceptLoop& operator=(const AcceptLoop&) = delete;

  void close() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  }
  [[nodiscard]] int fd() noexcept { return acceptor_.native_handle(); }

 private:
  void accept() {
    acceptor_.async_accept([this](const boost::system::error_code& ec, Socket socket) {
      if (ec == boost::asio::error::operation_aborted) return;
      if (!ec) {
        take_(std::move(socket));
        return accept();
      }
      // Out of descriptors: an immediate retry would only waste CPU time.
      pause_.expires_after(std::chrono::milliseconds{100});
      pause_.async_wait([this](const boost::system::error_code& stopped) {
        if (!stopped) accept();
      });
    });
  }

  Acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::function<void(Socket)> take_;
};

}  // namespace stile
