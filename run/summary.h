// Summary: what the command asked for, told in a few lines when it has ended.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace stile::run {

// Counts from audit lines, so that it says what the log says. Thread-safe.
class Summary {
 public:
  // Whole lines of JSON with their newlines, as Log::set_tap hands them out.
  void add(std::string_view lines);

  // Waits until everything that was opened has been closed, but not for ever.
  void wait_until_closed(std::chrono::milliseconds longest);

  // For standard error. Empty if nothing was asked for.
  [[nodiscard]] std::string text() const;

 private:
  void add_line(std::string_view line);

  struct Refused {
    std::string host, reason, flag;  // flag: the one that would allow it; may be empty
    std::uint64_t count = 0;
    bool is_only_observed = false;
  };

  mutable std::mutex mutex_;
  std::condition_variable closed_one_;
  std::uint64_t let_through_ = 0, closed_ = 0, refused_ = 0, observed_ = 0;
  std::uint64_t bytes_up_ = 0, bytes_down_ = 0;
  std::map<std::string, Refused> hosts_;
  std::uint64_t left_out_ = 0;  // refusals of hosts beyond those that are kept
};

}  // namespace stile::run
