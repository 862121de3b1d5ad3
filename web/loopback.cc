// listen_on_loopback: a TCP port that only programs on this host reach.
#include "web/loopback.h"

#include <string>
#include <utility>

namespace stile::web {

Result<LoopbackListener> listen_on_loopback(boost::asio::io_context& context,
                                            const config::Endpoint& endpoint) {
  using boost::asio::ip::tcp;
  boost::system::error_code ec;
  const auto address = endpoint.address.text();
  const tcp::endpoint local{boost::asio::ip::make_address(address, ec), endpoint.port};
  tcp::acceptor acceptor{context};
  if (!ec) acceptor.open(local.protocol(), ec);
  if (!ec) acceptor.set_option(tcp::acceptor::reuse_address{true}, ec);
  if (!ec) acceptor.bind(local, ec);
  if (!ec) acceptor.listen(boost::asio::socket_base::max_listen_connections, ec);
  if (ec) return Error{"cannot listen on " + endpoint.text() + ": " + ec.message()};
  const auto port = std::to_string(acceptor.local_endpoint().port());
  const auto host = endpoint.address.is_v4() ? address : '[' + address + ']';
  return LoopbackListener{std::move(acceptor),
                          {{"http", host + ':' + port}, {"http", "localhost:" + port}}};
}

}  // namespace stile::web
