// Acceptor: one listening socket on one worker; it identifies the agent of each connection, once.
#pragma once

#include <optional>
#include <string>

#include "proxy/base/loop.h"
#include "proxy/net/sockaddr.h"
#include "proxy/session/context.h"

namespace stile::session {

class Acceptor final : private Watcher, private Deadline {
 public:
  // With an agent's id, every connection to this socket belongs to that agent.
  Acceptor(Context& context, UniqueFd listener, std::optional<std::string> agent,
           Lent lent = nullptr);
  ~Acceptor() = default;

 private:
  void on_ready(Socket& socket) override;
  void on_deadline() override;  // after a pause: descriptors may be free again
  void pause();
  void admit(UniqueFd client, const net::SockAddr& from);
  void refuse(Socket& client, const std::string& agent,
              const std::shared_ptr<acl::Account>& account, acl::Reason reason);

  Context& context_;
  std::optional<std::string> agent_;
  Lent lent_;
  bool is_elsewhere_;  // in another network namespace, where addresses have another meaning
  SocketPtr listener_;
};

}  // namespace stile::session
