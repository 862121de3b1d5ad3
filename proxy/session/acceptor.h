// Acceptor: one listening socket on one worker; it identifies the agent of each connection, once.
#pragma once

#include <optional>
#include <string>

#include "proxy/base/loop.h"
#include "proxy/net/sockaddr.h"
#include "proxy/session/context.h"
#include "proxy/session/identify.h"

namespace stile::session {

class Acceptor final : private Watcher, private Deadline {
 public:
  // With an agent's id, every connection to this socket belongs to that agent. With the address of
  // the name server, its connections were captured: they are to addresses that stand for names, or
  // to port 53 of that address.
  Acceptor(Context& context, UniqueFd listener, std::optional<std::string> agent,
           Lent lent = nullptr, std::optional<acl::Address> name_server = {});
  // Another process may have the same socket, so closing it is not enough to end its events.
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  // While it is held, connections wait in the kernel's queue.
  void hold(bool on) noexcept;

 private:
  void on_ready(Socket& socket) override;
  void on_deadline() override;  // after a pause: descriptors may be free again
  void pause();
  void admit(UniqueFd client, const net::SockAddr& from);
  void capture(SocketPtr client, Peer peer);
  void refuse(Socket& client, const std::string& agent,
              const std::shared_ptr<acl::Account>& account, acl::Reason reason);

  Context& context_;
  Lent lent_;
  Audience audience_;
  std::optional<acl::Address> name_server_;
  SocketPtr listener_;
  bool is_held_ = false;
};

}  // namespace stile::session
