// NameConnection: an agent's TCP connection to the name server.
#pragma once

#include <memory>

#include "proxy/base/task.h"
#include "proxy/session/client.h"
#include "proxy/session/context.h"
#include "proxy/session/live.h"

namespace stile::session {

class NameConnection final : public Pooled, public Live {
 public:
  // Owns itself.
  static void start(Context& context, SocketPtr client, Peer peer);

  void judge_again(const acl::Snapshot& snapshot, bool all) override;
  void drain() override { client_.cancel(acl::Reason::draining); }
  void end() override { client_.cancel(acl::Reason::draining); }
  // An address that stands for a name. The client asks the other process.
  void promise_no_more() override { end(); }
  [[nodiscard]] bool describe(ConnectionInfo&) const override { return false; }

 private:
  NameConnection(Context& context, SocketPtr client, Peer peer);
  static Detached own(std::unique_ptr<NameConnection> self);
  Task<> run();

  Client client_;
};

}  // namespace stile::session
