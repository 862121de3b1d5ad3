// LiveLines: prints events on standard error while the command runs.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace stile::run {

// A separate thread writes: a terminal may stop reading (^S), and the proxy must not block. While a
// full-screen program uses the terminal, lines are held back until it ends.
class LiveLines {
 public:
  LiveLines() = default;
  ~LiveLines() { stop(); }
  LiveLines(const LiveLines&) = delete;
  LiveLines& operator=(const LiveLines&) = delete;

  // Call it after the last fork.
  void start();
  // Adds a line without its newline; from any thread, never blocks.
  void tell(std::string line);
  // Drops lines that are not written yet: the summary contains them.
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
