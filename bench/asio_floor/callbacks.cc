// A tunnel on Asio's callbacks.
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <memory>
#include <string>

#include "bench/asio_floor/sessions.h"

namespace stile::bench {
namespace {

namespace asio = boost::asio;
using Error = boost::system::error_code;

class CallbackTunnel : public std::enable_shared_from_this<CallbackTunnel> {
 public:
  CallbackTunnel(Tcp::socket client, const Tcp::endpoint& to)
      : client_{std::move(client)}, origin_{client_.get_executor()}, to_{to} {}

  void read_head() {
    client_.async_wait(Tcp::socket::wait_read, [self = shared_from_this()](Error failed) {
      if (!failed) self->on_head();
    });
  }

 private:
  void on_head() {
    Error error;
    const std::size_t size = client_.read_some(asio::buffer(shared_buffer), error);
    if (error == asio::error::would_block) return read_head();
    if (error) return;
    head_.append(shared_buffer.data(), size);
    if (head_.find("\r\n\r\n") == std::string::npos) {
      if (head_.size() < max_head_bytes) read_head();
      return;
    }
    head_ = {};
    origin_.async_connect(to_, [self = shared_from_this()](Error failed) {
      if (!failed) self->on_connected();
    });
  }

  void on_connected() {
    Error error;
    origin_.non_blocking(true, error);
    client_.write_some(asio::buffer(established), error);  // a fresh socket takes it at once
    if (error) return;
    wait(client_, origin_, up_);
    wait(origin_, client_, down_);
  }

  void wait(Tcp::socket& from, Tcp::socket& to, std::string& unsent) {
    const bool is_full = !unsent.empty();
    (is_full ? to : from)
        .async_wait(is_full ? Tcp::socket::wait_write : Tcp::socket::wait_read,
                    [self = shared_from_this(), &from, &to, &unsent](Error failed) {
                      if (!failed) self->move(from, to, unsent);
                    });
  }

  void move(Tcp::socket& from, Tcp::socket& to, std::string& unsent) {
    Error error;
    if (!unsent.empty()) {
      const std::size_t sent = to.write_some(asio::buffer(unsent), error);
      if (error && error != asio::error::would_block) return close();
      unsent.erase(0, sent);
      return wait(from, to, unsent);
    }
    const std::size_t size = from.read_some(asio::buffer(shared_buffer), error);
    if (error == asio::error::would_block) return wait(from, to, unsent);
    if (error) return close();
    const std::size_t sent = to.write_some(asio::buffer(shared_buffer, size), error);
    if (error && error != asio::error::would_block) return close();
    if (sent < size) unsent.assign(shared_buffer.data() + sent, size - sent);
    wait(from, to, unsent);
  }

  void close() {
    Error ignored;
    client_.close(ignored);
    origin_.close(ignored);
  }

  Tcp::socket client_, origin_;
  const Tcp::endpoint& to_;
  std::string head_, up_, down_;
};

}  // namespace

void serve_by_callbacks(Tcp::socket client, const Tcp::endpoint& origin) {
  std::make_shared<CallbackTunnel>(std::move(client), origin)->read_head();
}

}  // namespace stile::bench
