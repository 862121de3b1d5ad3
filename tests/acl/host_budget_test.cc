// HostBudget: requests, minutes and tokens; nothing is counted twice or given back too often.
#include "acl/host_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace stile::acl {
namespace {

constexpr UnixMicros second = 1'000'000;
constexpr UnixMicros start = 1'800'000'000 * second;
using Outcome = HostCharge::Outcome;

HostBudget budget_of(std::optional<std::uint64_t> per_minute, std::optional<std::uint64_t> requests,
                     std::optional<std::uint64_t> tokens) {
  HostBudget budget{"api.example", per_minute, requests, tokens, std::make_shared<HostUsage>()};
  if (requests) budget.usage->requests.set(static_cast<std::int64_t>(*requests));
  if (tokens) budget.usage->tokens.set(static_cast<std::int64_t>(*tokens));
  return budget;
}

TEST(HostBudget, CountsRequestsUpToItsLimit) {
  const HostBudget budget = budget_of({}, 2, {});
  HostCharge first, second_one, third;
  EXPECT_EQ(first.take(budget, start), Outcome::taken);
  EXPECT_EQ(second_one.take(budget, start), Outcome::taken);
  EXPECT_EQ(third.take(budget, start), Outcome::spent);
  EXPECT_EQ(fault_of(budget, start), "its requests to this host are used up");
}

TEST(HostBudget, ARequestThatDidNotGoOnIsNotCounted) {
  const HostBudget budget = budget_of(1, 1, 100);
  for (int i = 0; i < 3; ++i) {
    HostCharge charge;
    EXPECT_EQ(charge.take(budget, start), Outcome::taken);
    EXPECT_FALSE(fault_of(budget, start).empty());
  }
  EXPECT_EQ(fault_of(budget, start), "");
  EXPECT_EQ(budget.usage->tokens.left(), 100);
}

TEST(HostBudget, ARequestThatWentOnStaysCounted) {
  const HostBudget budget = budget_of(5, 5, 100);
  {
    HostCharge charge;
    EXPECT_EQ(charge.take(budget, start), Outcome::taken);
    EXPECT_EQ(charge.take(budget, start), Outcome::taken);  // the same request, judged again
    charge.keep();
  }
  EXPECT_EQ(budget.usage->requests.left(), 4);
  EXPECT_EQ(budget.usage->minute.used(start), 1U);
  EXPECT_EQ(budget.usage->tokens.left(), 94);  // it never said what it used
}

TEST(HostBudget, SaysWhenTheRequestsOfAMinuteAreUsedUp) {
  const HostBudget budget = budget_of(2, {}, {});
  for (int i = 0; i < 2; ++i) {
    HostCharge charge;
    EXPECT_EQ(charge.take(budget, start), Outcome::taken);
    charge.keep();
  }
  EXPECT_EQ(fault_of(budget, start + 59 * second), minute_fault);
  EXPECT_EQ(fault_of(budget, start + 65 * second), "");
  HostCharge charge;
  EXPECT_EQ(charge.take(budget, start + 65 * second), Outcome::taken);
}

TEST(HostBudget, ReservesTokensUntilTheAnswerReports) {
  const HostBudget budget = budget_of({}, {}, 160);
  HostCharge charge;
  EXPECT_EQ(charge.take(budget, start), Outcome::taken);
  EXPECT_EQ(budget.usage->tokens.left(), 150);
  charge.keep();
  charge.settle(4);
  EXPECT_EQ(budget.usage->tokens.left(), 156);
  charge.settle(100);  // only once
  EXPECT_EQ(budget.usage->tokens.left(), 156);
}

TEST(HostBudget, WhatIsOnlyEstimatedCostsAtLeastTheReserve) {
  const HostBudget budget = budget_of({}, {}, 160);
  HostCharge little, much;
  EXPECT_EQ(little.take(budget, start), Outcome::taken);
  EXPECT_EQ(much.take(budget, start), Outcome::taken);
  little.settle_at_least(4);
  EXPECT_EQ(budget.usage->tokens.left(), 140);
  much.settle_at_least(30);
  EXPECT_EQ(budget.usage->tokens.left(), 120);
  much.settle_at_least(30);  // only once
  EXPECT_EQ(budget.usage->tokens.left(), 120);
}

TEST(HostBudget, ParallelRequestsCannotAllBeginBeforeTheFirstReports) {
  const HostBudget budget = budget_of({}, {}, 160);
  std::vector<std::unique_ptr<HostCharge>> running;
  for (int i = 0; i < 16; ++i) {
    running.push_back(std::make_unique<HostCharge>());
    EXPECT_EQ(running.back()->take(budget, start), Outcome::taken);
  }
  HostCharge one_more;
  EXPECT_EQ(one_more.take(budget, start), Outcome::spent);
}

TEST(HostBudget, MoreTokensThanReservedAreOwed) {
  const HostBudget budget = budget_of({}, {}, 160);
  HostCharge charge;
  EXPECT_EQ(charge.take(budget, start), Outcome::taken);
  charge.keep();
  charge.settle(500);
  EXPECT_EQ(budget.usage->tokens.left(), 0);
  EXPECT_EQ(budget.usage->owed_tokens, 340);
  EXPECT_EQ(fault_of(budget, start), "its tokens on this host are used up");
  HostCharge next;
  EXPECT_EQ(next.take(budget, start), Outcome::spent);
}

TEST(HostBudget, DebtIsPaidOnceMoreIsOnRecord) {
  const HostBudget budget = budget_of({}, {}, 160);
  budget.usage->tokens.lock(160);
  EXPECT_TRUE(budget.usage->tokens.book(20));
  budget.usage->tokens.settle(true);
  HostCharge charge;
  EXPECT_EQ(charge.take(budget, start), Outcome::taken);
  charge.keep();
  charge.settle(50);  // 30 more than are ready
  EXPECT_EQ(budget.usage->owed_tokens, 30);
  HostCharge next;
  EXPECT_EQ(next.take(budget, start), Outcome::not_ready);
  EXPECT_TRUE(budget.usage->tokens.book(100));
  budget.usage->tokens.settle(true);
  EXPECT_EQ(next.take(budget, start), Outcome::taken);
  EXPECT_EQ(budget.usage->owed_tokens, 0);
  EXPECT_EQ(budget.usage->tokens.left(), 160 - 50 - 10);
}

TEST(HostBudget, DebtGoesOnRecordWithTheNextState) {
  const HostBudget budget = budget_of({}, {}, 160);
  HostUsage& usage = *budget.usage;
  usage.tokens.lock(160);
  usage.owed_tokens = 100;
  usage.record_debt();
  EXPECT_EQ(usage.owed_tokens, 0);
  EXPECT_EQ(usage.tokens.unrecorded(), 60);
  usage.owed_tokens = 100;
  usage.record_debt();
  EXPECT_EQ(usage.owed_tokens, 40) << "there is no more";
  EXPECT_EQ(usage.tokens.left(), 0);
  EXPECT_EQ(usage.take_debt(), 40);
  EXPECT_EQ(usage.take_debt(), 0);
}

TEST(HostBudget, AnotherProcessPaysOnlyTheDebtThatItDoesNotKnowOf) {
  const HostBudget budget = budget_of({}, {}, 100);
  HostUsage& usage = *budget.usage;
  usage.tokens.lock(0);
  usage.owed_tokens = 40;
  EXPECT_EQ(usage.save_debt(), 40);
  usage.owed_tokens += 7;
  EXPECT_EQ(usage.take_debt(), 7);
  EXPECT_EQ(usage.take_debt(), 0);
  // What was saved as used and as owed pays the one with the other.
  usage.tokens.lock(10);
  EXPECT_TRUE(usage.tokens.book(10));
  usage.tokens.settle(true);
  usage.owed_tokens = 40;
  EXPECT_EQ(usage.save_debt(), 40);
  usage.pay_debt();
  EXPECT_EQ(usage.take_debt(), -10);
  // What went on record afterwards is in that state as well.
  usage.tokens.lock(30);
  usage.owed_tokens = 40;
  EXPECT_EQ(usage.save_debt(), 40);
  usage.record_debt();
  usage.owed_tokens += 5;
  EXPECT_EQ(usage.take_debt(), 5);
}

TEST(HostBudget, ThreadsTogetherPayADebtOnce) {
  const HostBudget budget = budget_of({}, {}, 1'000'000);
  HostUsage& usage = *budget.usage;
  usage.tokens.lock(1'000'000);
  std::atomic<bool> is_over{false};
  std::thread payer{[&] {
    while (!is_over) usage.pay_debt();
  }};
  std::int64_t owed = 0;
  for (int i = 0; i < 20000; ++i) {
    usage.owed_tokens += 7;
    owed += 7;
    static_cast<void>(usage.tokens.book(i % 11));
    usage.tokens.settle(true);
    usage.record_debt();
  }
  is_over = true;
  payer.join();
  EXPECT_EQ(usage.tokens.balance() - usage.owed_tokens, 1'000'000 - owed);
}

TEST(HostBudget, ThreadsTogetherTakeExactlyTheLimit) {
  const HostBudget budget = budget_of(1000, 700, {});
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 400; ++j) {
        HostCharge charge;
        if (charge.take(budget, start) != Outcome::taken) continue;
        charge.keep();
        ++taken;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(taken, 700);
  EXPECT_EQ(budget.usage->minute.used(start), 700U);
}

}  // namespace
}  // namespace stile::acl
