// The floor's event loop: accepts clients and tells a session which of its two sockets is ready.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/common/socket.h"

namespace stile::bench {

enum class Which : std::uint8_t { client, origin };

// One client's connection and, once dialled, that to the origin.
class Session {
 public:
  virtual ~Session() = default;
  virtual void ready(Which side, std::uint32_t events) = 0;

  Fd client;
  Fd origin;
};

class Reactor {
 public:
  using Factory = std::function<std::unique_ptr<Session>(Reactor&)>;

  Reactor(const sockaddr_in& at, Factory make);

  [[noreturn]] void run();

  void watch(Session& session, Which side);
  // Calls ready() once more in the next turn: edge-triggered sockets do not tell twice.
  void again(Session& session, Which side, std::uint32_t events);
  // Closes both sockets now; the object lives to the end of the turn, whose events may name it.
  void end(Session& session);

 private:
  struct Ready {
    Session* session;
    Which side;
    std::uint32_t events;
  };

  void accept_all();

  Factory make_;
  Fd epoll_;
  Fd listener_;
  std::vector<Ready> again_;
  std::vector<Session*> ended_;
};

}  // namespace stile::bench
