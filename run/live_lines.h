// LiveLines: tells what happens on standard error while the command runs.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace stile::run {

// A thread of its own writes, since a terminal may stop reading (^S), and the proxy must not. A
// full-screen program has the terminal to itself: what is told meanwhile waits until it is done.
class LiveLines {
 public:
  LiveLines() = default;
  ~LiveLines() { stop(); }
  LiveLines(const LiveLines&) = delete;
  LiveLines& operator=(const LiveLines&) = delete;

  // When no more processes are forked.
  void start();
  // A line without its newline; from any thread, never waits.
  void tell(std::string line);
  // What still waits is dropped: the summary tells it.
  void stop();

 private:
  void write_all();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> waiting_;
  bool is_ended_ = false;
  std::thread thread_;
};

}  // namespace stile::run
