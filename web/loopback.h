// listen_on_loopback: a TCP port that only programs on this host reach, for stile-web and stile
// mcp.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <vector>

#include "base/result.h"
#include "config/endpoint.h"
#include "web/origin.h"

namespace stile::web {

struct LoopbackListener {
  boost::asio::ip::tcp::acceptor acceptor;
  std::vector<Origin> origins;  // what it is called: by its address, and by "localhost"
};

// `endpoint` is a loopback address; port 0: the kernel chooses one.
[[nodiscard]] Result<LoopbackListener> listen_on_loopback(boost::asio::io_context& context,
                                                          const config::Endpoint& endpoint);

}  // namespace stile::web
