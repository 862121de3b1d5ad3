// What a scenario measured: operations, failures, latencies, and the proxy's CPU time; as one JSON
// line.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stile::bench {

using Clock = std::chrono::steady_clock;

// CPU time of other processes together, all their threads, user and system, in nanoseconds. It is
// exact to the switch, unlike the tick-counted utime and stime of /proc.
class CpuClock {
 public:
  // "12,13": a proxy and its helpers. Without a process the clock stands still.
  explicit CpuClock(std::string_view pids);
  [[nodiscard]] std::chrono::nanoseconds now();

 private:
  struct Process {
    clockid_t clock{};
    std::chrono::nanoseconds used{};
  };
  std::vector<Process> processes_;
};

class Report {
 public:
  explicit Report(std::string_view pids) : cpu_(pids) { start(); }

  // Forgets what was counted so far: the end of the warm-up.
  void start();
  void stop();

  void done(Clock::time_point begun);
  void moved(std::uint64_t bytes) { bytes_ += bytes; }
  void failed(std::string_view why) { ++failures_[std::string{why}]; }

  [[nodiscard]] std::uint64_t operations() const { return latencies_.size(); }
  [[nodiscard]] std::uint64_t failures() const;

  void print();

 private:
  CpuClock cpu_;
  Clock::time_point begun_;
  Clock::time_point ended_;
  std::chrono::nanoseconds cpu_begun_{};
  std::chrono::nanoseconds cpu_ended_{};
  std::uint64_t bytes_ = 0;
  std::vector<std::uint32_t> latencies_;  // microseconds
  std::map<std::string, std::uint64_t> failures_;
};

}  // namespace stile::bench
