// Scenario: CONNECT and one exchange, a fixed number at a time, each from the next agent's address.
#include <memory>
#include <vector>

#include "bench/load/scenarios.h"
#include "bench/load/tunnel.h"

namespace stile::bench {
namespace {

using std::chrono::seconds;
constexpr seconds patience{10};                 // for one operation
constexpr std::chrono::milliseconds pause{10};  // after a failure

// What the slots of a run share.
struct Run {
  Report& report;
  std::uint64_t warm_up = 0;
  std::uint64_t count = 0;
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;

  [[nodiscard]] bool may_begin() const { return begun < warm_up + count; }
  void end_one() {
    if (++ended == warm_up) report.start();
  }
};

class Slot final : public Tunnel {
 public:
  Slot(Loop& loop, const Way& way, Run& run) : Tunnel(loop, way), run_(run) {}

  void next() {
    if (run_.may_begin()) begin(static_cast<unsigned>(run_.begun++));
  }

  // From time to time: gives up what takes too long, begins again after a failure.
  void look() {
    if (is_busy() && Clock::now() - begun() < patience) return;
    if (is_busy()) {
      close();
      on_failed("timeout");
    }
    next();
  }

 private:
  void on_open() override {
    close();
    run_.report.done(begun());
    run_.end_one();
    next();
  }

  void on_failed(std::string_view why) override {
    run_.report.failed(why);
    run_.end_one();  // and no new try at once: a proxy that does not listen is not hammered
  }

  void on_traffic(std::uint32_t) override {}

  Run& run_;
};

}  // namespace

int run_connect(const Flags& flags) {
  const Way way(flags);
  Loop loop;
  Report report(flags.text("pids"));
  Run run{report, flags.number("warm-up", 0), flags.number("count", 10000)};
  std::vector<std::unique_ptr<Slot>> slots;
  for (std::uint64_t i = 0; i < flags.number("concurrency", 64); ++i) {
    slots.push_back(std::make_unique<Slot>(loop, way, run));
    slots.back()->next();
  }
  const auto deadline = Clock::now() + seconds{flags.number("seconds", 60)};
  auto next_look = Clock::now();
  while (run.ended < run.warm_up + run.count && Clock::now() < deadline) {
    loop.turn(pause);
    if (Clock::now() < next_look) continue;
    next_look = Clock::now() + pause;
    for (const auto& slot : slots) slot->look();
  }
  report.stop();
  report.print();
  return 0;
}

}  // namespace stile::bench
