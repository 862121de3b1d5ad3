// LoginSocket: one line, then the end.
#include "web/login_socket.h"

#include <sys/socket.h>

#include <utility>

namespace stile::web {

namespace asio = boost::asio;
using Protocol = asio::local::stream_protocol;

LoginSocket::LoginSocket(asio::io_context& context, UniqueFd listener,
                         std::function<std::string()> new_link)
    : connections_{{context, Protocol{}, listener.release()},
                   [new_link = std::move(new_link)](Protocol::socket socket) {
                     // The line fits into the buffer of a new socket, so this never waits.
                     const auto line = new_link() + '\n';
                     (void)::send(socket.native_handle(), line.data(), line.size(),
                                  MSG_DONTWAIT | MSG_NOSIGNAL);
                   }} {}

}  // namespace stile::web
