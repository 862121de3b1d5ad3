// SendGuard: keeps one agent from using up the send buffer of a socket that answers all agents.
//
// A datagram counts against the buffer until it leaves the last queue of the receiving device. Root
// inside of an agent's namespace can put a queue there that sends nothing on, and so hold as many
// answers as the buffer has room for. The others would get none. So when the buffer fills, each
// answer is watched, and an address that holds one gets no more.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>

#include "acl/address.h"
#include "proxy/base/clock.h"

namespace stile::session {

class SendGuard {
 public:
  struct Buffer {
    std::size_t used = 0, size = 0;
    // Datagrams are delivered at once, so that an honest buffer is nearly always empty.
    [[nodiscard]] bool fills() const noexcept { return size > 0 && used >= size / 4; }
  };
  [[nodiscard]] static Buffer buffer_of(int socket) noexcept;

  // Whether an answer may be sent there now.
  [[nodiscard]] bool admits(const acl::Address& to, const Buffer& before, SteadyTime now);
  // It was sent while the buffer fills.
  void note_sent(const acl::Address& to, const Buffer& before, const Buffer& after, SteadyTime now);

  // An address that was held up for another reason than bad will is tried again after this.
  static constexpr std::chrono::seconds retry_time{60};
  static constexpr std::size_t most_holders = 4096;

 private:
  struct Holder {
    std::size_t used_before;
    SteadyTime until;
  };
  std::map<acl::Address, Holder> holders_;
};

}  // namespace stile::session
