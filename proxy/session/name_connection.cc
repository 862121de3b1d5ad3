// NameConnection: an agent's TCP connection to the name server.
#include "proxy/session/name_connection.h"

#include <exception>

#include "proxy/base/log.h"
#include "proxy/session/name_answer.h"

namespace stile::session {
namespace {

log::Throttle failed_connections;

}  // namespace

NameConnection::NameConnection(Context& context, SocketPtr client, Peer peer)
    : client_{context, std::move(client), std::move(peer)} {
  context.live.push_back(*this);
}

void NameConnection::start(Context& context, SocketPtr client, Peer peer) {
  own(std::unique_ptr<NameConnection>{
      new NameConnection{context, std::move(client), std::move(peer)}});
}

Detached NameConnection::own(std::unique_ptr<NameConnection> self) {
  try {
    co_await self->run();
  } catch (const std::exception& problem) {
    failed_connections.warning("a connection of the name server was closed: ", problem.what());
  }
}

// Each question has one absolute deadline, like the head of a request.
Task<> NameConnection::run() {
  const Limits& limits = client_.context.limits;
  client_.set_deadline(limits.header_timeout, acl::Reason::header_timeout);
  for (;;) {
    const dns::Framed framed = dns::read_framed(client_.in);
    if (framed.state == dns::Framed::State::too_long) co_return;
    if (framed.state == dns::Framed::State::need_more) {
      const bool more = co_await client_.read_more();
      if (!more) co_return;
      continue;
    }
    const std::string query{framed.message.begin(), framed.message.end()};
    client_.in.erase(0, framed.consumed);
    const Asker asker{client_.peer.agent, client_.peer.source(), client_.peer.port()};
    std::string answer;
    co_await answer_question(client_.context, asker, query, NameTransport::stream, answer);
    if (answer.empty()) co_return;  // too many, or not a query
    // Most answers have no line, so that a client that sends many questions at once waits its turn
    // here.
    static_cast<void>(co_await client_.context.audit.without_line());
    client_.context.shared.names.write_new();
    const bool sent = co_await client_.send(answer);
    if (!sent) co_return;
    client_.set_deadline(limits.header_timeout, acl::Reason::header_timeout);
  }
}

void NameConnection::judge_again(const acl::Snapshot& snapshot, bool) {
  Peer& peer = client_.peer;
  const auto* agent = peer.in(snapshot);
  if (agent == nullptr) return client_.cancel(acl::Reason::revoked);
  peer.agent = *agent;
}

}  // namespace stile::session
