// Budgets on disk: never less than was used, and exact when nothing is open.
#include "control/budget_ledger.h"

#include <gtest/gtest.h>

#include "tests/control/live.h"

namespace stile::control {
namespace {

constexpr std::uint64_t step = 64 * 1024;

TEST(BudgetLedger, WritesTheExactUseOfWhoHasNothingOpen) {
  EXPECT_EQ(reserve(1 << 20, 1000, 500'000, step, false), 1000U);
}

TEST(BudgetLedger, IsAheadOfTheUseAndNeverBeyondTheTotal) {
  constexpr std::uint64_t total = 10 << 20;
  std::uint64_t written = 0;
  std::uint64_t writes = 0;
  for (std::uint64_t used = 0; used <= total; used += 4096) {
    const auto next = reserve(total, used, written, step, true);
    EXPECT_GE(next, used);
    EXPECT_LE(next, total);
    if (next < total) {
      EXPECT_GE(next, used + total / 16);
    }
    if (next != written) ++writes;
    written = next;
  }
  EXPECT_EQ(written, total);
  EXPECT_LE(writes, 20U);  // not one for each chunk
}

TEST(BudgetLedger, ReservesForAnAgentThatHasSomethingOpen) {
  auto live = live_of("[[agent]]\nid = \"a\"\nsource = [\"10.0.0.1\"]\nbytes_up = \"8MiB\"\n");
  auto& agent = live.agents().at("a");
  EXPECT_FALSE(update_reserves(live, false));
  agent.account->connections = 1;
  EXPECT_TRUE(update_reserves(live, false));
  EXPECT_EQ(agent.reserved_up, 1U << 20);
  EXPECT_FALSE(update_reserves(live, false));
  static_cast<void>(agent.account->bytes_up.take(3 << 20));
  EXPECT_TRUE(update_reserves(live, false));
  EXPECT_EQ(agent.reserved_up, 4U << 20);
  EXPECT_TRUE(update_reserves(live, true));
  EXPECT_EQ(agent.reserved_up, 3U << 20);
}

TEST(BudgetLedger, AStateThatWasWrittenIsWhatARestartCountsFrom) {
  const std::string config =
      "[[agent]]\nid = \"a\"\nsource = [\"10.0.0.1\"]\nbytes_up = \"8MiB\"\n";
  auto live = live_of(config);
  live.agents().at("a").account->connections = 1;
  static_cast<void>(live.agents().at("a").account->bytes_up.take(100));
  ASSERT_TRUE(update_reserves(live, false));
  const auto again = live_of(config, live.save());
  EXPECT_LE(again.find("a")->account->bytes_up.left(), (8 << 20) - 100);
  EXPECT_GT(again.find("a")->account->bytes_up.left(), 6 << 20);
}

}  // namespace
}  // namespace stile::control
