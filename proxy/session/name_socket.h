// NameSocket: the name server's UDP socket on one worker.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/base/loop.h"
#include "proxy/base/task.h"
#include "proxy/session/context.h"
#include "proxy/session/identify.h"
#include "proxy/session/send_guard.h"

namespace stile::session {

class NameSocket final : private Watcher {
 public:
  NameSocket(Context& context, UniqueFd socket, Audience audience);
  ~NameSocket() = default;
  // Questions wait in the kernel's queue, as connections do.
  void hold(bool on) noexcept;

 private:
  // What is left to send. Answers may wait for their line after the NameSocket is gone.
  class Outbox {
   public:
    Outbox(Context& context, UniqueFd socket) : context_{context}, fd_{std::move(socket)} {}
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    // Until send_gathered(), answers are kept, so that their new names are written with one call.
    void gather() noexcept { gathers_ = true; }
    void send_gathered();
    void send(const net::SockAddr& to, std::string answer);

   private:
    void send_now(const net::SockAddr& to, const std::string& answer);

    Context& context_;
    UniqueFd fd_;
    SendGuard guard_;
    bool gathers_ = false;
    std::vector<std::pair<net::SockAddr, std::string>> gathered_;
  };

  void on_ready(Socket& socket) override;
  void receive();
  static Detached serve(Context& context, std::shared_ptr<Outbox> outbox, net::SockAddr from,
                        std::shared_ptr<const acl::AgentPolicy> agent, std::string query);

  Context& context_;
  Audience audience_;
  std::shared_ptr<Outbox> outbox_;
  SocketPtr watched_;
};

}  // namespace stile::session
