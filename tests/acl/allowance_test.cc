// Allowance: what workers take before they spend it.
#include "acl/allowance.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace stile::acl {
namespace {

TEST(Allowance, GivesWhatIsAskedWhereThereIsNoLimit) {
  Allowance allowance;
  EXPECT_FALSE(allowance.is_limited());
  EXPECT_FALSE(allowance.is_spent());
  EXPECT_EQ(allowance.take(1000), 1000U);
  allowance.give_back(1000);
  EXPECT_EQ(allowance.left(), Allowance::unlimited);
}

TEST(Allowance, GivesAtMostWhatIsLeftAndTakesTheRestBack) {
  Allowance allowance{100};
  EXPECT_EQ(allowance.take(60), 60U);
  EXPECT_EQ(allowance.take(60), 40U);
  EXPECT_TRUE(allowance.is_spent());
  EXPECT_EQ(allowance.take(1), 0U);
  allowance.give_back(5);
  EXPECT_EQ(allowance.left(), 5);
  EXPECT_FALSE(allowance.is_spent());
}

TEST(Allowance, IsNeverOverdrawnByManyWorkers) {
  constexpr std::int64_t whole = 100000;
  Allowance allowance{whole};
  std::atomic<std::int64_t> spent{0};
  std::vector<std::thread> workers;
  for (std::size_t worker = 1; worker <= 4; ++worker) {
    workers.emplace_back([&, worker] {
      while (const std::size_t part = allowance.take(2 * worker)) {
        if (part > 1) allowance.give_back(1);
        spent += static_cast<std::int64_t>(part > 1 ? part - 1 : part);
      }
    });
  }
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(spent, whole);
  EXPECT_TRUE(allowance.is_spent());
}

struct CountingRefill final : Refill {
  void ask() noexcept override { ++asked; }
  std::atomic<int> asked{0};
};

TEST(Allowance, GivesNothingBeforeTheRecordOfItIsSafe) {
  Allowance allowance;
  allowance.lock(1000);
  EXPECT_EQ(allowance.left(), 1000);
  EXPECT_EQ(allowance.take(10), 0U);
  EXPECT_FALSE(allowance.is_spent());
  ASSERT_TRUE(allowance.book(100));
  EXPECT_EQ(allowance.take(10), 0U) << "the record is being written";
  EXPECT_EQ(allowance.unrecorded(), 900);
  allowance.settle(true);
  EXPECT_EQ(allowance.take(1000), 100U);
  EXPECT_EQ(allowance.left(), 900);
  EXPECT_EQ(allowance.unrecorded(), 900);
}

TEST(Allowance, GivesNothingWhenTheRecordCouldNotBeMade) {
  Allowance allowance;
  allowance.lock(1000);
  ASSERT_TRUE(allowance.book(100));
  allowance.settle(false);
  EXPECT_EQ(allowance.take(10), 0U);
  EXPECT_EQ(allowance.left(), 1000);
  EXPECT_EQ(allowance.unrecorded(), 1000);
}

TEST(Allowance, IsSpentOnlyWhenTheRestIsToo) {
  Allowance allowance;
  allowance.lock(100);
  for (int half = 0; half < 2; ++half) {
    EXPECT_FALSE(allowance.is_spent());
    ASSERT_TRUE(allowance.book(50));
    allowance.settle(true);
    EXPECT_EQ(allowance.take(100), 50U);
  }
  EXPECT_TRUE(allowance.is_spent());
  EXPECT_FALSE(allowance.book(50)) << "there is nothing any more";
}

TEST(Allowance, AsksOnceWhenItRunsLowAndNeverAtItsEnd) {
  CountingRefill refill;
  Allowance allowance;
  allowance.lock(100);
  allowance.watch(&refill, 20);
  EXPECT_EQ(allowance.take(1), 0U);
  EXPECT_EQ(allowance.take(1), 0U);
  EXPECT_EQ(refill.asked, 1);
  EXPECT_TRUE(allowance.answer());
  ASSERT_TRUE(allowance.book(60));
  allowance.settle(true);
  EXPECT_EQ(allowance.take(40), 40U);
  EXPECT_EQ(refill.asked, 1) << "20 are enough";
  EXPECT_EQ(allowance.take(1), 1U);
  EXPECT_EQ(refill.asked, 2);
  EXPECT_TRUE(allowance.answer());
  EXPECT_FALSE(allowance.answer());
  ASSERT_TRUE(allowance.book(60));
  allowance.settle(true);
  EXPECT_EQ(allowance.take(100), 59U);
  EXPECT_EQ(refill.asked, 2) << "nobody can put more on record";
}

TEST(Allowance, ThatBecomesSmallerKeepsWhatWasUsedInMind) {
  Allowance allowance;
  allowance.lock(1000);
  ASSERT_TRUE(allowance.book(500));
  allowance.settle(true);
  EXPECT_EQ(allowance.take(400), 400U);  // of 1000
  allowance.add(-550);                   // of 450
  EXPECT_EQ(allowance.left(), 50);
  allowance.add(-350);  // of 100
  EXPECT_TRUE(allowance.is_spent());
  EXPECT_EQ(allowance.left(), 0);
  EXPECT_EQ(allowance.balance(), -300);
  allowance.add(900);  // of 1000 again
  EXPECT_EQ(allowance.left(), 600);
}

TEST(Allowance, ReclaimsWhatNobodyUsed) {
  Allowance allowance;
  allowance.lock(1000);
  ASSERT_TRUE(allowance.book(500));
  allowance.settle(true);
  EXPECT_EQ(allowance.take(100), 100U);
  ASSERT_TRUE(allowance.book(200));
  EXPECT_EQ(allowance.unrecorded(), 300);
  allowance.reclaim();
  EXPECT_EQ(allowance.unrecorded(), 900);
}

// The invariant that a crash relies on: at every moment the record covers what was taken.
TEST(Allowance, RecordIsNeverBehindWhatManyWorkersTook) {
  constexpr std::int64_t whole = 200000;
  CountingRefill refill;
  Allowance allowance;
  allowance.lock(whole);
  allowance.watch(&refill, 500);
  std::atomic<std::int64_t> taken{0}, on_record{0};
  std::atomic<bool> is_behind{false};
  std::vector<std::thread> workers;
  for (std::size_t worker = 1; worker <= 3; ++worker) {
    workers.emplace_back([&, worker] {
      while (!allowance.is_spent()) {
        const auto part = static_cast<std::int64_t>(allowance.take(7 * worker));
        if (part == 0) std::this_thread::yield();
        if (taken.fetch_add(part) + part > on_record) is_behind = true;
      }
    });
  }
  while (!allowance.is_spent()) {
    if (!allowance.answer()) {
      std::this_thread::yield();
      continue;
    }
    static_cast<void>(allowance.book(1000));
    on_record = whole - allowance.unrecorded();  // as the file on disk
    allowance.settle(true);
  }
  for (auto& worker : workers) worker.join();
  EXPECT_FALSE(is_behind);
  EXPECT_EQ(taken, whole);
}

}  // namespace
}  // namespace stile::acl
