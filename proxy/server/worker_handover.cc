// Worker, between processes: its listeners and tunnels come from another process, or go to one.
#include <exception>
#include <memory>
#include <utility>

#include "proxy/base/log.h"
#include "proxy/server/worker.h"
#include "proxy/session/tunnel.h"

namespace stile::server {
namespace {

// How many tunnels go before other connections are served.
constexpr std::size_t moved_at_once = 32;
constexpr std::chrono::milliseconds look_again{20};

log::Throttle unadopted;

}  // namespace

void Worker::adopt(session::FrozenTunnel tunnel) {
  loop_.post([this, frozen = std::make_shared<session::FrozenTunnel>(std::move(tunnel))] {
    try {
      session::Tunnel::adopt(context_, std::move(*frozen));
    } catch (const std::exception& problem) {
      unadopted.warning("a tunnel that was handed over is lost: ", problem.what());
    }
  });
}

void Worker::hold_doors(bool on) {
  loop_.post([this, on] {
    for (auto& acceptor : acceptors_) acceptor->hold(on);
    for (auto& names : name_sockets_) names->hold(on);
    if (!on) return;
    for (auto it = context_.live.begin(); it != context_.live.end();) (it++)->promise_no_more();
  });
}

void Worker::leave() {
  loop_.post([this] {
    acceptors_.clear();
    name_sockets_.clear();
  });
}

void Worker::hand_over_to(session::TunnelSink& sink) {
  loop_.post([this, &sink] {
    sink_ = &sink;
    next_move_.is_due = true;
  });
}

// True: there may be more to hand over now. Afterwards it looks again from time to time: requests
// that were being set up become tunnels.
bool Worker::move_some() {
  std::size_t moved = 0;
  for (auto it = context_.live.begin(); it != context_.live.end();) {
    session::Live& live = *it++;
    if (!live.can_move()) continue;
    if (moved == moved_at_once) return true;
    if (!sink_->has_room()) break;
    ++moved;
    if (!live.move_to(*sink_)) {
      next_move_.is_due = false;  // the other process is gone, and this one ends soon
      return false;
    }
  }
  next_move_.is_due = false;
  loop_.arm(next_move_, look_again);
  return false;
}

}  // namespace stile::server
