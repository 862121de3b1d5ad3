// asio_floor: the floor on Boost.Asio, with callbacks or, with --coroutines, with coroutines.
#include <boost/asio/io_context.hpp>
#include <csignal>

#include "bench/asio_floor/sessions.h"
#include "bench/common/flags.h"
#include "bench/common/socket.h"

namespace {

using namespace stile::bench;

Tcp::endpoint asio_endpoint(const sockaddr_in& address) {
  return {boost::asio::ip::address_v4{ntohl(address.sin_addr.s_addr)}, ntohs(address.sin_port)};
}

void accept_next(Tcp::acceptor& acceptor, const Tcp::endpoint& origin, bool coroutines) {
  acceptor.async_accept([&, coroutines](boost::system::error_code failed, Tcp::socket client) {
    if (!failed) {
      boost::system::error_code ignored;
      client.non_blocking(true, ignored);
      coroutines ? serve_by_coroutines(std::move(client), origin)
                 : serve_by_callbacks(std::move(client), origin);
    }
    accept_next(acceptor, origin, coroutines);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags(argc - 1, argv + 1, {"listen", "origin", "coroutines"});
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  raise_descriptor_limit();
  boost::asio::io_context context{1};  // one thread: no locks
  const Tcp::endpoint origin = asio_endpoint(endpoint(flags.text("origin", "127.0.0.2:9443")));
  Tcp::acceptor acceptor{context, asio_endpoint(endpoint(flags.text("listen", "127.0.0.1:3128")))};
  accept_next(acceptor, origin, flags.has("coroutines"));
  context.run();
}
