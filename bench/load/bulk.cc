// Scenario: bulk. All tunnels are opened first; the clock runs only while bytes move.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/load/bulk_command.h"
#include "bench/load/scenarios.h"
#include "bench/load/tunnel.h"

namespace stile::bench {
namespace {

struct Run {
  Report& report;
  bool up = false;
  std::uint64_t bytes_each = 0;
  std::size_t open = 0;
  std::size_t ended = 0;
};

std::array<char, chunk_bytes> chunk;

class Mover final : public Tunnel {
 public:
  Mover(Loop& loop, const Way& way, Run& run) : Tunnel(loop, way), run_(run) {}

  void start() {
    if (!is_open()) return;
    const auto command = encode({run_.up ? Direction::up : Direction::down, run_.bytes_each});
    if (::send(fd(), command.data(), command.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(command.size())) {
      return fail("send");
    }
    loop().watch_level(fd(), *this, run_.up ? EPOLLOUT : EPOLLIN);
  }

 private:
  void on_open() override { ++run_.open; }

  void on_failed(std::string_view why) override {
    run_.report.failed(why);
    ++run_.ended;
  }

  void on_traffic(std::uint32_t events) override {
    const bool all_sent = run_.up && moved_ == run_.bytes_each;
    if (run_.up && !all_sent && (events & EPOLLOUT) != 0) return push();
    pull();
  }

  void push() {
    const auto left = std::min<std::uint64_t>(chunk.size(), run_.bytes_each - moved_);
    const ssize_t sent = ::send(fd(), chunk.data(), left, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN ? void() : fail("reset in bulk");
    moved_ += static_cast<std::uint64_t>(sent);
    if (moved_ == run_.bytes_each) loop().watch_level(fd(), *this, EPOLLIN);  // for the receipt
  }

  // Down: the bytes themselves, thrown away unread. Up: one byte when the origin has it all.
  void pull() {
    const ssize_t got = ::recv(fd(), chunk.data(), chunk.size(), MSG_TRUNC);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return fail("closed in bulk");
    if (!run_.up) moved_ += static_cast<std::uint64_t>(got);
    if (moved_ < run_.bytes_each) return;
    run_.report.moved(moved_);
    run_.report.done(begun());
    ++run_.ended;
    close();
  }

  void fail(std::string_view why) {
    close();
    on_failed(why);
  }

  Run& run_;
  std::uint64_t moved_ = 0;
};

}  // namespace

int run_bulk(const Flags& flags) {
  const Way way(flags);
  Loop loop;
  Report report(flags.text("pids"));
  const auto tunnels = flags.number("concurrency", 1);
  Run run{report, flags.has("up"), flags.number("bytes", 1000000000) / tunnels};
  std::vector<std::unique_ptr<Mover>> movers;
  for (std::uint64_t i = 0; i < tunnels; ++i) {
    movers.push_back(std::make_unique<Mover>(loop, way, run));
    movers.back()->begin(static_cast<unsigned>(i));
  }
  const auto deadline = Clock::now() + std::chrono::seconds{flags.number("seconds", 60)};
  const auto wait_for = [&](const auto& reached) {
    while (!reached() && Clock::now() < deadline) loop.turn(std::chrono::milliseconds{100});
    return reached();
  };
  bool complete = wait_for([&] { return run.open + run.ended == movers.size(); });
  report.start();
  for (const auto& mover : movers) mover->start();
  complete = complete && wait_for([&] { return run.ended == movers.size(); });
  report.stop();
  if (!complete) report.failed("timeout");
  report.print();
  return 0;
}

}  // namespace stile::bench
