// Scenario: many open tunnels in which nothing moves.
#include <cstdio>
#include <memory>
#include <vector>

#include "bench/load/scenarios.h"
#include "bench/load/tunnel.h"

namespace stile::bench {
namespace {

struct Run {
  Report& report;
  std::size_t settled = 0;
  std::size_t lost = 0;
};

class Held final : public Tunnel {
 public:
  Held(Loop& loop, const Way& way, Run& run) : Tunnel(loop, way), run_(run) {}

 private:
  void on_open() override {
    run_.report.done(begun());
    ++run_.settled;
  }
  void on_failed(std::string_view why) override {
    run_.report.failed(why);
    ++run_.settled;
  }
  // The origin sends nothing more: whatever happens now is the end of the tunnel.
  void on_traffic(std::uint32_t events) override {
    if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) == 0) return;
    ++run_.lost;
    close();
  }

  Run& run_;
};

// Standard input ends when the runner has seen enough.
class Stop final : public Watcher {
 public:
  void on_ready(std::uint32_t) override { asked = true; }
  bool asked = false;
};

}  // namespace

int run_hold(const Flags& flags) {
  const Way way(flags);
  Loop loop;
  Report report(flags.text("pids"));
  Run run{report};
  Stop stop;
  loop.watch_level(0, stop, EPOLLIN);
  const auto count = flags.number("count", 9500);
  const auto concurrency = flags.number("concurrency", 64);
  std::vector<std::unique_ptr<Held>> tunnels;
  const auto deadline = Clock::now() + std::chrono::seconds{flags.number("seconds", 60)};
  while (run.settled < count && !stop.asked && Clock::now() < deadline) {
    while (tunnels.size() < count && tunnels.size() - run.settled < concurrency) {
      tunnels.push_back(std::make_unique<Held>(loop, way, run));
      tunnels.back()->begin(static_cast<unsigned>(tunnels.size()));
    }
    loop.turn(std::chrono::milliseconds{100});
  }
  report.stop();
  report.print();  // the runner waits for this line
  while (!stop.asked) loop.turn(std::chrono::milliseconds{1000});
  std::printf("{\"lost\": %zu}\n", run.lost);
  return 0;
}

}  // namespace stile::bench
