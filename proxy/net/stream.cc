// Stream: a connection as a front uses it.
#include "proxy/net/stream.h"

#include <sys/socket.h>

namespace stile::net {

void Stream::end_output() noexcept {
  if (is_cut_) return;
  if (layer_) layer_->end_output();
  ::shutdown(socket_->fd(), SHUT_WR);
}

}  // namespace stile::net
