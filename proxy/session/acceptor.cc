// Acceptor: one listening socket on one worker; it identifies the agent of each connection, once.
#include "proxy/session/acceptor.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <system_error>

#include "acl/admit.h"
#include "base/system_error.h"
#include "proxy/base/log.h"
#include "proxy/session/name_connection.h"
#include "proxy/session/refusal.h"
#include "proxy/session/session.h"

namespace stile::session {
namespace {

constexpr int accepts_per_turn = 64;
constexpr std::uint16_t name_server_port = 53;
constexpr std::chrono::milliseconds pause_when_exhausted{100};

const std::string nobody = "-";

log::Throttle exhausted;

}  // namespace

Acceptor::Acceptor(Context& context, UniqueFd listener, std::optional<std::string> agent, Lent lent,
                   std::optional<acl::Address> name_server)
    : context_{context},
      lent_{std::move(lent)},
      audience_{std::move(agent), lent_ && is_in_another_namespace(listener.get())},
      name_server_{name_server},
      listener_{context.loop.adopt_level(std::move(listener), EPOLLIN)} {
  if (!listener_) throw std::system_error{errno, std::generic_category(), "a listener"};
  listener_->watch(this);
}

Acceptor::~Acceptor() { static_cast<void>(listener_->release()); }

void Acceptor::on_ready(Socket& socket) {
  socket.clear_readable();
  if (is_held_) return;
  for (int i = 0; i < accepts_per_turn; ++i) {
    net::SockAddr from;
    UniqueFd client{::accept4(listener_->fd(), from.get(), from.size_for_kernel(),
                              SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (client) {
      try {
        admit(std::move(client), from);
        continue;
      } catch (const std::exception& problem) {
        exhausted.warning("cannot accept: ", problem.what());
        return pause();
      }
    }
    if (errno == EAGAIN) return;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      exhausted.warning("cannot accept: ", error_text(errno));
      return pause();
    }
    // ECONNABORTED and the like concern only that client.
  }
}

// Other connections may free what is exhausted; an immediate retry would only waste their time.
void Acceptor::pause() {
  context_.loop.change_level(*listener_, 0);
  context_.loop.arm(*this, pause_when_exhausted);
}

void Acceptor::on_deadline() {
  if (!is_held_) context_.loop.change_level(*listener_, EPOLLIN);
}

void Acceptor::hold(bool on) noexcept {
  is_held_ = on;
  context_.loop.change_level(*listener_, on ? 0U : static_cast<std::uint32_t>(EPOLLIN));
}

void Acceptor::admit(UniqueFd client, const net::SockAddr& from) {
  const auto& snapshot = context_.policy.get();
  const acl::Address source = from.address().unmapped();
  auto agent = identify(*snapshot, audience_, from);
  const auto& account = agent ? agent->account : context_.shared.unknown;
  const std::string& id = agent ? agent->id : nobody;
  SocketPtr socket = context_.loop.adopt(std::move(client));
  if (!socket) return;
  const auto count = [](const std::atomic<std::uint32_t>& value) {
    return value.load(std::memory_order_relaxed);
  };
  const acl::Reason full =
      acl::admit({count(context_.shared.connections), context_.limits.connections},
                 {count(account->connections),
                  agent ? agent->max_connections : context_.limits.connections_of_unknown});
  if (full != acl::Reason::none) {
    refuse(*socket, id, account, full);
    return;
  }
  const auto& tally = context_.tally(id);
  socket->charge_to(tally->share);
  const std::uint64_t conn = context_.next_conn;
  context_.next_conn += context_.conn_step;
  Peer peer{context_.shared,
            std::move(agent),
            account,
            tally,
            source,
            from.port(),
            conn,
            audience_.agent.has_value(),
            lent_};
  if (name_server_) return capture(std::move(socket), std::move(peer));
  Session::start(context_, std::move(socket), std::move(peer));
}

// The socket's own address is the one that the client has connected to: a name's, or the name
// server's. All others stand for nothing, also that of the listener.
void Acceptor::capture(SocketPtr client, Peer peer) {
  net::SockAddr to;
  if (::getsockname(client->fd(), to.get(), to.size_for_kernel()) != 0) return;
  const acl::Address address = to.address().unmapped();
  if (address == *name_server_ && to.port() == name_server_port) {
    return NameConnection::start(context_, std::move(client), std::move(peer));
  }
  auto stand_in = peer.agent ? context_.shared.names.find(*peer.agent, address) : nullptr;
  peer.captured =
      std::make_unique<const Captured>(Captured{address, to.port(), std::move(stand_in)});
  Session::start(context_, std::move(client), std::move(peer));
}

// The head is not read: it sends one answer and closes. The refusal is counted in this second's
// line.
void Acceptor::refuse(Socket& client, const std::string& agent,
                      const std::shared_ptr<acl::Account>& account, acl::Reason reason) {
  ++context_.tally(agent)->connections_refused;
  context_.shared.refusals.count(agent, account, reason);
  if (name_server_) return client.reset_when_closed();  // it does not speak to a proxy
  Refusal refusal;
  refusal.reason = reason;
  refusal.agent = agent;
  const std::string text = write_refusal(refusal);
  char unread[4096];  // read, so that closing does not reset the connection under the answer
  static_cast<void>(client.read(unread, sizeof unread));
  static_cast<void>(client.write(text.data(), text.size()));
}

}  // namespace stile::session
