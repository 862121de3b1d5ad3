#include "bench/load/report.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "bench/common/socket.h"

namespace stile::bench {
namespace {

double in_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

CpuClock::CpuClock(std::string_view pids) {
  while (!pids.empty()) {
    const std::string_view word = pids.substr(0, pids.find(','));
    pids.remove_prefix(std::min(pids.size(), word.size() + 1));
    pid_t pid = 0;
    std::from_chars(word.data(), word.data() + word.size(), pid);
    Process process;
    if (pid <= 0 || ::clock_getcpuclockid(pid, &process.clock) != 0) die("no such process");
    processes_.push_back(process);
  }
}

std::chrono::nanoseconds CpuClock::now() {
  std::chrono::nanoseconds sum{};
  for (Process& process : processes_) {
    timespec time{};
    if (::clock_gettime(process.clock, &time) == 0) {
      process.used = std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
    } else if (&process == &processes_.front()) {
      die("the proxy is gone");
    }
    sum += process.used;  // of a helper that was replaced in a reload, what was seen last
  }
  return sum;
}

void Report::start() {
  latencies_.clear();
  failures_.clear();
  bytes_ = 0;
  begun_ = Clock::now();
  cpu_begun_ = cpu_.now();
}

void Report::stop() {
  ended_ = Clock::now();
  cpu_ended_ = cpu_.now();
}

void Report::done(Clock::time_point begun) {
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
  latencies_.push_back(static_cast<std::uint32_t>(took.count()));
}

std::uint64_t Report::failures() const {
  std::uint64_t sum = 0;
  for (const auto& [why, count] : failures_) sum += count;
  return sum;
}

void Report::print() {
  std::sort(latencies_.begin(), latencies_.end());
  const auto at = [&](double share) {
    if (latencies_.empty()) return 0U;
    const auto rank = static_cast<std::size_t>(share * static_cast<double>(latencies_.size()));
    return latencies_[std::min(rank, latencies_.size() - 1)];
  };
  std::printf(
      "{\"operations\": %zu, \"bytes\": %llu, \"seconds\": %.6f, \"cpu_seconds\": %.6f, "
      "\"latency_us\": {\"p50\": %u, \"p90\": %u, \"p99\": %u, \"p999\": %u, \"max\": %u}, "
      "\"failed\": %llu, \"failures\": {",
      latencies_.size(), static_cast<unsigned long long>(bytes_), in_seconds(ended_ - begun_),
      in_seconds(cpu_ended_ - cpu_begun_), at(0.5), at(0.9), at(0.99), at(0.999), at(1),
      static_cast<unsigned long long>(failures()));
  const char* separator = "";
  for (const auto& [why, count] : failures_) {
    std::printf("%s\"%s\": %llu", separator, why.c_str(), static_cast<unsigned long long>(count));
    separator = ", ";
  }
  static_cast<void>(std::puts("}}"));
  static_cast<void>(std::fflush(stdout));
}

}  // namespace stile::bench
