// Server, during `systemctl restart`: it goes on serving until the new process has taken over, and
// ends as soon as systemd does not keep the rendezvous any more.
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "base/local_socket.h"
#include "proxy/base/log.h"
#include "proxy/server/server.h"

namespace stile::server {
namespace {

namespace asio = boost::asio;
using Kind = Message::Kind;
using Step = Taker::Step;

constexpr unsigned most_seconds_between_ticks = 30;

pid_t maker_of(int socket) {
  const auto maker = peer_credentials(socket);
  return maker ? maker->pid : 0;
}

}  // namespace

Server::Outliving::Outliving(asio::io_context& context, HandoverLink link)
    : rendezvous{std::move(link)}, events{context, ::dup(rendezvous.fd())} {}

void Server::watch_keeper() {
  if (front_.keeper.fd() < 0) return;
  keeper_events_.assign(::dup(front_.keeper.fd()));
  await_order();
}

void Server::await_order() {
  keeper_events_.async_wait(asio::posix::descriptor_base::wait_read,
                            [this](const boost::system::error_code& ec) {
                              if (ec) return;
                              const auto order = front_.keeper.receive();
                              if (order == Keeper::Order::gone) return stop();
                              if (order == Keeper::Order::end) end_or_stop(was_ordered_to_end_);
                              if (order == Keeper::Order::outlive) outlive();
                              if (keeper_events_.is_open()) await_order();
                            });
}

void Server::outlive() {
  if (shared_->draining || shared_->leaving || taker_) return end_or_stop(was_ordered_to_end_);
  if (sockets_may_block_) {
    log::error("cannot go on during the restart: the unit needs NonBlocking=yes");
    return end_or_stop(was_ordered_to_end_);
  }
  auto rendezvous = leave_rendezvous();
  if (!rendezvous) {
    log::error("cannot go on during the restart: " + rendezvous.error().message);
    return end_or_stop(was_ordered_to_end_);
  }
  outliving_ = std::make_unique<Outliving>(context_, std::move(*rendezvous));
  watch_rendezvous();
  watch_myself();
  log::info("systemd restarts the service: serving until the new process takes over");
  keeper_events_.close();
  front_.keeper.release();
}

// systemd's watchdog is for the new process.
void Server::watch_myself() const {
  if (outliving_) ::alarm(most_seconds_between_ticks);
}

void Server::watch_rendezvous() {
  outliving_->events.async_wait(asio::posix::descriptor_base::wait_read,
                                [this](const boost::system::error_code& ec) {
                                  if (ec || (taker_ && taker_->step == Step::gone)) return;
                                  auto received = outliving_->rendezvous.receive({});
                                  if (received.is_closed) {
                                    log::info("systemd has stopped the service");
                                    return stop();
                                  }
                                  if (received.message && received.message->kind == Kind::meet &&
                                      received.message->descriptors.size() == 1) {
                                    meet_successor(std::move(received.message->descriptors[0]));
                                  }
                                  watch_rendezvous();
                                });
}

void Server::meet_successor(UniqueFd link) {
  const pid_t pid = maker_of(link.get());
  HandoverLink answer{UniqueFd{::dup(link.get())}};
  if (const auto met = hand_over(std::move(link), pid); !met) {
    Message refuse;
    refuse.kind = Kind::refuse;
    refuse.text = met.error().message;
    static_cast<void>(answer.send(refuse));
    return;
  }
  taker_->is_successor = true;
}

// The new process cannot go on with what this one has, and starts when this one has ended.
void Server::give_way() {
  taker_->deadline.cancel();
  drain();
}

}  // namespace stile::server
