// NameSocket: the name server's UDP socket on one worker.
#include "proxy/session/name_socket.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <exception>
#include <system_error>

#include "proxy/base/log.h"
#include "proxy/session/name_answer.h"

namespace stile::session {
namespace {

constexpr int datagrams_per_turn = 64;

log::Throttle unanswered, held_up;

}  // namespace

NameSocket::NameSocket(Context& context, UniqueFd socket, Audience audience)
    : context_{context},
      audience_{std::move(audience)},
      outbox_{std::make_shared<Outbox>(context, std::move(socket))},
      watched_{context.loop.borrow_level(outbox_->fd(), EPOLLIN)} {
  if (!watched_) throw std::system_error{errno, std::generic_category(), "the name server"};
  watched_->watch(this);
}

void NameSocket::hold(bool on) noexcept {
  context_.loop.change_level(*watched_, on ? 0U : static_cast<std::uint32_t>(EPOLLIN));
}

void NameSocket::on_ready(Socket& socket) {
  socket.clear_readable();
  outbox_->gather();
  receive();
  outbox_->send_gathered();
}

void NameSocket::receive() {
  // One byte more than the longest query, to notice a longer one.
  std::array<char, dns::max_query_bytes + 1> buffer;
  for (int i = 0; i < datagrams_per_turn; ++i) {
    net::SockAddr from;
    const ssize_t size = ::recvfrom(outbox_->fd(), buffer.data(), buffer.size(), MSG_DONTWAIT,
                                    from.get(), from.size_for_kernel());
    if (size < 0) return;
    if (static_cast<std::size_t>(size) > dns::max_query_bytes) continue;
    try {
      serve(context_, outbox_, from, identify(*context_.policy.get(), audience_, from),
            std::string{buffer.data(), static_cast<std::size_t>(size)});
    } catch (const std::exception& problem) {
      unanswered.warning("a question was not answered: ", problem.what());
    }
  }
}

void NameSocket::Outbox::send(const net::SockAddr& to, std::string answer) {
  if (gathers_) {
    gathered_.emplace_back(to, std::move(answer));
    return;
  }
  context_.shared.names.write_new();
  send_now(to, answer);
}

void NameSocket::Outbox::send_gathered() {
  gathers_ = false;
  context_.shared.names.write_new();
  for (const auto& [to, answer] : gathered_) send_now(to, answer);
  gathered_.clear();
}

// An answer that the socket does not take is lost, as it may be on any network.
void NameSocket::Outbox::send_now(const net::SockAddr& to, const std::string& answer) {
  const auto address = to.address().unmapped();
  const auto before = SendGuard::buffer_of(fd_.get());
  if (!guard_.admits(address, before, context_.loop.now())) {
    held_up.warning("a queue of this agent holds answers of the name server; it gets no more: ",
                    address.text());
    return;
  }
  static_cast<void>(
      ::sendto(fd_.get(), answer.data(), answer.size(), MSG_DONTWAIT, to.get(), to.size()));
  if (!before.fills()) return;
  guard_.note_sent(address, before, SendGuard::buffer_of(fd_.get()), context_.loop.now());
}

Detached NameSocket::serve(Context& context, std::shared_ptr<Outbox> outbox, net::SockAddr from,
                           std::shared_ptr<const acl::AgentPolicy> agent, std::string query) {
  try {
    const Asker asker{std::move(agent), from.address().unmapped(), from.port()};
    std::string answer;
    co_await answer_question(context, asker, query, NameTransport::datagram, answer);
    if (!answer.empty()) outbox->send(from, std::move(answer));
  } catch (const std::exception& problem) {
    unanswered.warning("a question was not answered: ", problem.what());
  }
}

}  // namespace stile::session
