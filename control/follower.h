// Follower: the lines that the daemon sends by itself, read on a thread, for programs that wait for
// something else too.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "control/client.h"

namespace stile::control {

class Follower {
 public:
  // Beyond this many lines nothing more is read: the daemon knows what to do with slow readers.
  static constexpr std::size_t max_waiting = 10'000;

  // The request to follow was sent, and its answer was read.
  explicit Follower(ControlClient client);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Readable when there is something to take; -1: no descriptor was left.
  [[nodiscard]] int fd() const noexcept { return in_.get(); }
  struct Taken {
    std::vector<std::string> lines;
    bool is_over = false;  // the daemon has gone
  };
  [[nodiscard]] Taken take();

 private:
  void read();

  ControlClient client_;
  UniqueFd in_, out_;
  std::mutex mutex_;
  std::condition_variable taken_;
  Taken waiting_;
  bool is_ended_ = false;
  std::thread thread_;
};

}  // namespace stile::control
