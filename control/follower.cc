// Follower: the lines that the daemon sends by itself, read on a thread.
#include "control/follower.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

namespace stile::control {

Follower::Follower(ControlClient client) : client_{std::move(client)} {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  in_.reset(ends[0]);
  out_.reset(ends[1]);
  thread_ = std::thread{[this] {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);  // for the other threads
    read();
  }};
}

Follower::~Follower() {
  {
    const std::lock_guard lock{mutex_};
    is_ended_ = true;
  }
  taken_.notify_one();
  client_.shut_down();
  if (thread_.joinable()) thread_.join();
}

Follower::Taken Follower::take() {
  std::array<char, 256> bytes;
  while (::read(in_.get(), bytes.data(), bytes.size()) > 0) {
  }
  const std::lock_guard lock{mutex_};
  taken_.notify_one();
  return std::exchange(waiting_, {{}, waiting_.is_over});
}

void Follower::read() {
  for (bool goes_on = true; goes_on;) {
    auto line = client_.next_line(std::nullopt);
    goes_on = line && *line;
    std::unique_lock lock{mutex_};
    taken_.wait(lock, [this] { return is_ended_ || waiting_.lines.size() < max_waiting; });
    if (goes_on) waiting_.lines.push_back(std::move(**line));
    waiting_.is_over = !goes_on;
    if (::write(out_.get(), "x", 1) < 0) continue;  // a full pipe is readable as well
  }
}

}  // namespace stile::control
