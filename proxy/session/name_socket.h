// NameSocket: the name server's UDP socket on one worker.
#pragma once

#include <memory>
#include <string>

#include "proxy/base/loop.h"
#include "proxy/base/task.h"
#include "proxy/session/context.h"
#include "proxy/session/identify.h"

namespace stile::session {

class NameSocket final : private Watcher {
 public:
  NameSocket(Context& context, UniqueFd socket, Audience audience);
  ~NameSocket() = default;

 private:
  // Answers may wait for their line after this object is gone.
  using SharedFd = std::shared_ptr<const UniqueFd>;
  void on_ready(Socket& socket) override;
  static Detached serve(Context& context, SharedFd fd, net::SockAddr from,
                        std::shared_ptr<const acl::AgentPolicy> agent, std::string query);

  Context& context_;
  Audience audience_;
  SharedFd fd_;
  SocketPtr watched_;
};

}  // namespace stile::session
