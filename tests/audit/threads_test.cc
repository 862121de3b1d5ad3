// Several workers, one log.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/audit/world.h"

namespace stile::audit {
namespace {

class AuditThreads : public AuditWorld {};

TEST_F(AuditThreads, WriteOneChainWhileOthersLookAndRotate) {
  static constexpr std::uint64_t writers = 4, turns = 200, per_turn = 5;
  std::uint64_t tapped = 0;  // under the log's lock
  std::vector<std::string> files;
  {
    const auto log = open_log();
    log->set_tap([&tapped](std::string_view lines) {
      tapped += static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
    });
    std::atomic<bool> is_done{false};
    std::vector<std::thread> threads;
    for (std::uint64_t writer = 0; writer < writers; ++writer) {
      threads.emplace_back([&log, writer] {
        Batch batch{Format::json};
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
          for (std::uint64_t i = 0; i < per_turn; ++i) batch.add(open_record(writer * 1000 + i));
          EXPECT_EQ(log->write(batch), per_turn);
        }
      });
    }
    std::thread other{[&] {
      for (int number = 0; number < 20 && !is_done; ++number) {
        const std::string old = path("old-" + std::to_string(1000 + number));
        std::filesystem::rename(log_path_, old);
        files.push_back(old);
        EXPECT_TRUE(log->reopen());
        log->retry();
        EXPECT_TRUE(log->healthy());
        const std::uint64_t before = log->events();
        while (!is_done && log->events() < before + 50) std::this_thread::yield();
        EXPECT_EQ(log->head().hash.size(), 64u);
      }
    }};
    for (std::thread& thread : threads) thread.join();
    is_done = true;
    other.join();
    EXPECT_EQ(log->events(), writers * turns * per_turn);
    EXPECT_EQ(log->head().seq, writers * turns * per_turn);
  }
  EXPECT_EQ(tapped, writers * turns * per_turn);
  files.push_back(log_path_);
  const Verified verified = verify_files(files);
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_NE(verified.out.find("OK: 4000 lines"), std::string::npos) << verified.out;
}

}  // namespace
}  // namespace stile::audit
