// Allowance: what workers take before they spend it.
#include "acl/account.h"

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

}  // namespace
}  // namespace stile::acl
