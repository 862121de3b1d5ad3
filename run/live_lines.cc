// LiveLines: prints events on standard error while the command runs.
#include "run/live_lines.h"

#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <utility>

namespace stile::run {
namespace {

constexpr std::chrono::milliseconds look_again{250};

// Line editing is off: a program draws the screen itself, and an extra line would garble it.
bool is_screen_taken() {
  termios settings{};
  return ::tcgetattr(STDERR_FILENO, &settings) == 0 && (settings.c_lflag & ICANON) == 0;
}

void write_line(const std::string& line) {
  const auto text = "stile: " + line + '\n';
  // If a line cannot be written, the summary still contains it.
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace

void LiveLines::start() {
  thread_ = std::thread{[this] {
    // A shell inside may have made its job the foreground job. Some terminals stop a process that
    // writes from the background, unless it blocks the signal.
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    write_all();
  }};
}

void LiveLines::tell(std::string line) {
  const std::lock_guard lock{mutex_};
  waiting_.push_back(std::move(line));
  changed_.notify_one();
}

void LiveLines::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    is_ended_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

void LiveLines::write_all() {
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [this] { return is_ended_ || !waiting_.empty(); });
    if (is_ended_) return;
    if (is_screen_taken()) {
      changed_.wait_for(lock, look_again, [this] { return is_ended_; });
      continue;
    }
    const auto line = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    write_line(line);
    lock.lock();
  }
}

}  // namespace stile::run
