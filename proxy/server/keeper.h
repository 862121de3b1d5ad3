// Keeper: the process that systemd watches. The daemon is its child.
//
// For a restart, systemd first waits until the process that it watches has ended, and only then
// starts the new one. With a keeper that ends, the daemon can serve until the new one takes over.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::server {

// The daemon's link to its keeper. Without one, all calls do nothing.
class Keeper {
 public:
  enum class Order : std::uint8_t {
    end,      // drain, and end
    outlive,  // systemd restarts the service: go on without the keeper, or else end
    gone,     // the keeper has ended
  };

  Keeper() = default;
  // Forks. Returns in the child, which is the daemon; its parent ends with the status of the
  // daemon. If the parent is killed, the kernel kills the daemon, too. Call it before the first
  // thread.
  [[nodiscard]] static Result<Keeper> start();

  // What systemd should watch for this daemon; 0: the daemon itself.
  [[nodiscard]] pid_t process() const noexcept { return process_; }
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  [[nodiscard]] std::optional<Order> receive() const;

  // The daemon is the one of the service. An end of the keeper then ends all of the service.
  [[nodiscard]] Result<void> serves();
  // Another daemon is, and systemd has to watch that process. False: there is no keeper to tell it.
  [[nodiscard]] bool has_left_to(pid_t watched) const;
  // The answer to `outlive`: the keeper ends, and nothing ends the daemon but itself.
  void release();

 private:
  Keeper(pid_t process, UniqueFd socket) : process_{process}, socket_{std::move(socket)} {}
  pid_t process_ = 0;
  UniqueFd socket_;
};

}  // namespace stile::server
