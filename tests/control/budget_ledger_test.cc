// Budgets on disk: never less than was used, and exact after a clean stop.
#include "control/budget_ledger.h"

#include <gtest/gtest.h>

#include "control/grants.h"
#include "tests/control/live.h"

namespace stile::control {
namespace {

constexpr std::int64_t mib = 1 << 20;
const std::string config =
    "[[agent]]\nid = \"a\"\nsource = [\"10.0.0.1\"]\nbytes_up = \"64MiB\"\n"
    "[[agent]]\nid = \"b\"\nsource = [\"10.0.0.2\"]\nbytes_down = \"1MiB\"\n";

struct Asked final : acl::Refill {
  void ask() noexcept override { is_asked = true; }
  bool is_asked = false;
};

acl::Account& account(const LivePolicy& live, const char* id) { return *live.find(id)->account; }

std::uint64_t saved_up(const LivePolicy& live) {
  for (const auto& agent : live.save().agents) {
    if (agent.id == "a") return agent.used_up;
  }
  return 0;
}

TEST(BudgetLedger, StepIsAPartOfTheBudgetWithinBounds) {
  EXPECT_EQ(bytes_step(0), 64 * 1024);
  EXPECT_EQ(bytes_step(64 * mib), mib);
  EXPECT_EQ(bytes_step(std::uint64_t{1} << 50), 16 * mib);
  EXPECT_EQ(requests_step(3), 1);
  EXPECT_EQ(requests_step(640), 10);
  EXPECT_EQ(requests_step(std::uint64_t{1} << 40), 1024);
}

TEST(BudgetLedger, PutsOnRecordWhatWasAskedForAndNothingElse) {
  const auto live = live_of(config);
  Asked refill;
  watch_budgets(live, refill);
  EXPECT_FALSE(is_reserve_asked_for(live));
  EXPECT_TRUE(live.save().agents.empty()) << "an agent that does nothing loses nothing";
  EXPECT_EQ(account(live, "a").bytes_up.take(100), 0U);
  EXPECT_TRUE(refill.is_asked);
  EXPECT_TRUE(is_reserve_asked_for(live));
  auto booking = book_reserves(live);
  EXPECT_FALSE(is_reserve_asked_for(live));
  EXPECT_EQ(saved_up(live), static_cast<std::uint64_t>(mib));
  EXPECT_EQ(account(live, "a").bytes_up.take(100), 0U) << "it is not on disk yet";
  booking.settle(true);
  EXPECT_EQ(account(live, "a").bytes_up.take(100), 100U);
  EXPECT_EQ(account(live, "b").bytes_down.ready(), 0);
}

LivePolicy live_with_slice(std::uint64_t bytes) {
  auto base = base_of(config);
  AgentEntry entry = *base->entries.at("a");
  auto policy = std::make_shared<acl::AgentPolicy>(*entry.policy);
  policy->bytes_up_slice = bytes;
  entry.policy = std::move(policy);
  base->entries["a"] = std::make_shared<const AgentEntry>(std::move(entry));
  return LivePolicy{std::move(base), {}};
}

TEST(BudgetLedger, AnAgentOfAFleetWaitsAtTheEndOfItsHostsShare) {
  const auto live = live_with_slice(100'000);
  Asked refill;
  watch_budgets(live, refill);
  auto& budget = account(live, "a").bytes_up;
  EXPECT_EQ(budget.take(1), 0U);
  book_reserves(live).settle(true);
  EXPECT_EQ(budget.take(mib), 100'000U);
  EXPECT_EQ(budget.take(1), 0U);
  book_reserves(live).settle(true);
  EXPECT_EQ(budget.take(1), 0U);
  EXPECT_FALSE(budget.is_spent()) << "more may come: it is not cut off";
  EXPECT_TRUE(is_reserve_asked_for(live)) << "stile-fleet sees that it waits";
  EXPECT_EQ(saved_up(live), 100'000U);
}

TEST(BudgetLedger, AnAgentOfAFleetWithoutAShareWaits) {
  const auto live = live_with_slice(0);
  Asked refill;
  watch_budgets(live, refill);
  EXPECT_EQ(account(live, "a").bytes_up.take(1), 0U);
  book_reserves(live).settle(true);
  EXPECT_EQ(account(live, "a").bytes_up.take(1), 0U);
  EXPECT_TRUE(is_reserve_asked_for(live));
}

TEST(BudgetLedger, GivesNothingOutWhileTheDiskFails) {
  const auto live = live_of(config);
  Asked refill;
  watch_budgets(live, refill);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(account(live, "a").bytes_up.take(100), 0U);
    auto booking = book_reserves(live);
    booking.settle(false);
    EXPECT_EQ(saved_up(live), 0U);
  }
  EXPECT_FALSE(account(live, "a").bytes_up.is_spent());
}

// Whatever moment a crash comes at, the next life has at most what is left of the budget.
TEST(BudgetLedger, AfterACrashNoMoreIsLeftThanWasNotUsed) {
  SavedState disk;
  std::int64_t flowed = 0;
  for (int life = 0; life < 40; ++life) {
    const auto live = live_of(config, disk);
    Asked refill;
    watch_budgets(live, refill);
    auto& up = account(live, "a").bytes_up;
    for (int step = 0; step < 10 * life; ++step) {
      flowed += static_cast<std::int64_t>(up.take(100'000));
      if (is_reserve_asked_for(live)) {
        auto booking = book_reserves(live);
        const auto written = live.save();
        if (step % 7 == 6) {  // the write failed, or the crash came before it was done
          booking.settle(false);
        } else {
          disk = written;
          booking.settle(true);
        }
      }
    }
    const auto next = live_of(config, disk);
    ASSERT_LE(account(next, "a").bytes_up.left() + flowed, 64 * mib);
    ASSERT_GE(account(next, "a").bytes_up.left() + flowed, 64 * mib - (life + 1) * mib)
        << "a crash costs one step at most";
  }
  EXPECT_LE(flowed, 64 * mib);
}

TEST(BudgetLedger, ACleanStopGivesBackWhatWasNotUsed) {
  const auto live = live_of(config);
  Asked refill;
  watch_budgets(live, refill);
  account(live, "a").bytes_up.expect();
  auto booking = book_reserves(live);
  booking.settle(true);
  EXPECT_EQ(account(live, "a").bytes_up.take(1234), 1234U);
  reclaim_reserves(live);
  EXPECT_EQ(saved_up(live), 1234U);
}

TEST(BudgetLedger, RequestsOfAGrantAreOnRecordBeforeTheyAreMade) {
  auto live = live_of(config);
  ControlRequest request;
  request.hosts = patterns({"x.test"});
  request.max_requests = 3;
  auto overlay = allow(*live.find("a")->entry->policy, {}, request, {"me", 1, "g"});
  ASSERT_TRUE(overlay);
  Edit edit;
  edit.agents["a"] = std::make_shared<const AgentOverlay>(overlay->overlay);
  ASSERT_TRUE(live.apply(edit));
  Asked refill;
  watch_budgets(live, refill);
  auto& requests = live.overlay("a")->grants[0].made.lease->requests;
  const auto recorded = [&] {
    return recorded_of(std::uint64_t{3},
                       live.save().agents[0].overlay.grants[0].made.lease->requests);
  };
  for (std::uint64_t made = 1; made <= 3; ++made) {
    EXPECT_EQ(requests.take(1), 0U);
    auto booking = book_reserves(live);
    EXPECT_EQ(recorded(), made);
    booking.settle(true);
    EXPECT_EQ(requests.take(1), 1U);
  }
  EXPECT_TRUE(requests.is_spent());
}

TEST(BudgetLedger, ResetIsAsIfNothingHadBeenUsedAndCanBeUndone) {
  auto live = live_of(config);
  auto& up = account(live, "a").bytes_up;
  ASSERT_TRUE(up.book(mib));
  up.settle(true);
  EXPECT_EQ(up.take(1000), 1000U);
  Edit edit;
  edit.budgets["a"] = {1000, 0};
  const auto undo = live.apply(edit);
  ASSERT_TRUE(undo);
  EXPECT_EQ(up.left(), 64 * mib);
  EXPECT_EQ(saved_up(live), static_cast<std::uint64_t>(mib - 1000)) << "what may be taken already";
  ASSERT_TRUE(live.apply(*undo));
  EXPECT_EQ(up.left(), 64 * mib - 1000);
  EXPECT_EQ(saved_up(live), static_cast<std::uint64_t>(mib));
}

TEST(BudgetLedger, AnAgentWhoseRemovalIsUndoneHasUsedWhatItHad) {
  auto live = live_of(config);
  auto& up = account(live, "a").bytes_up;
  ASSERT_TRUE(up.book(mib));
  up.settle(true);
  EXPECT_EQ(up.take(1000), 1000U);
  AgentOverlay removed;
  removed.removed = live.find("a")->entry->identity.entry;
  Edit edit;
  edit.agents["a"] = std::make_shared<const AgentOverlay>(removed);
  const auto undo = live.apply(edit);
  ASSERT_TRUE(undo);
  EXPECT_EQ(live.find("a"), nullptr);
  ASSERT_TRUE(live.apply(*undo));
  EXPECT_EQ(account(live, "a").bytes_up.left(), 64 * mib - 1000);
}

// Budgets of hosts.

const std::string with_hosts =
    "[[agent]]\nid = \"a\"\nsource = [\"10.0.0.1\"]\n[[agent.request]]\nhost = \"api.test\"\n"
    "[[agent.budget]]\nhost = \"api.test\"\n";

const acl::HostBudget& host_budget(const LivePolicy& live) {
  return *live.find("a")->policy->budget_for("api.test");
}

constexpr UnixMicros now = 1'800'000'000'000'000;

// A request that went on, with the tokens that it used. False: it was refused.
bool use_host(const LivePolicy& live, SavedState& disk, std::uint64_t tokens = 0) {
  for (int tries = 0; tries < 3; ++tries) {
    acl::HostCharge charge;
    const auto outcome = charge.take(host_budget(live), now);
    if (outcome == acl::HostCharge::Outcome::taken) {
      charge.keep();
      charge.settle(tokens);
      return true;
    }
    if (outcome == acl::HostCharge::Outcome::spent) return false;
    auto booking = book_reserves(live);
    disk = live.save();
    booking.settle(true);
  }
  ADD_FAILURE() << "it never becomes ready";
  return false;
}

TEST(BudgetLedger, RequestsToAHostAreOnRecordBeforeTheyAreMade) {
  SavedState disk;
  int made = 0;
  for (int life = 0; life < 10; ++life) {  // each ends by a crash
    const auto live = live_of(with_hosts + "max_requests = 25\n", disk);
    Asked refill;
    watch_budgets(live, refill);
    for (int i = 0; i < 3; ++i) made += use_host(live, disk) ? 1 : 0;
  }
  EXPECT_EQ(made, 25) << "a step is one request: a crash costs none";
}

TEST(BudgetLedger, TokensOfAHostAreNeverForgottenByACrash) {
  SavedState disk;
  std::uint64_t used = 0;
  int lives = 0;
  for (bool goes_on = true; goes_on; ++lives) {
    const auto live = live_of(with_hosts + "tokens = 10000\n", disk);
    Asked refill;
    watch_budgets(live, refill);
    goes_on = use_host(live, disk, 700);
    used += goes_on ? 700 : 0;
  }
  EXPECT_LE(used, 10000U);
  EXPECT_GE(lives, 4) << "a crash costs a quarter at most";
}

TEST(BudgetLedger, AReloadKeepsWhatWasUsedOfAHost) {
  SavedState disk;
  auto live = live_of(with_hosts + "max_requests = 5\nrequests_per_minute = 4\ntokens = 1000\n");
  Asked refill;
  watch_budgets(live, refill);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(use_host(live, disk, 100));
  static_cast<void>(live.rebase(
      base_of(with_hosts + "max_requests = 7\nrequests_per_minute = 9\ntokens = 500\n")));
  live.publish();
  const acl::HostUsage& usage = *host_budget(live).usage;
  EXPECT_EQ(usage.requests.left(), 4);
  EXPECT_EQ(usage.tokens.left(), 200);
  EXPECT_EQ(usage.minute.used(now), 3U);
  static_cast<void>(live.rebase(base_of(with_hosts + "max_requests = 3\ntokens = 100\n")));
  live.publish();
  EXPECT_FALSE(use_host(live, disk)) << "the limit is now below what was used";
}

TEST(BudgetLedger, ACleanRestartKeepsTheExactUsageOfAHost) {
  SavedState disk;
  const std::string text =
      with_hosts + "max_requests = 900\nrequests_per_minute = 4\ntokens = 9000\n";
  {
    const auto live = live_of(text);
    Asked refill;
    watch_budgets(live, refill);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(use_host(live, disk, 100));
    ASSERT_TRUE(use_host(live, disk, 5000)) << "more than is on record";
    reclaim_reserves(live);
    const auto read = parse_state(state_text(live.save()), "state.json");
    ASSERT_TRUE(read) << read.error().message;
    disk = *read;
  }
  const auto live = live_of(text, disk);
  const acl::HostUsage& usage = *host_budget(live).usage;
  EXPECT_EQ(usage.requests.left(), 897);
  EXPECT_EQ(usage.tokens.left(), 9000 - 5200);
  EXPECT_EQ(usage.minute.used(now), 3U);
}

TEST(BudgetLedger, ResetOfAHostCanBeUndone) {
  SavedState disk;
  auto live = live_of(with_hosts + "max_requests = 5\nrequests_per_minute = 4\ntokens = 1600\n");
  Asked refill;
  watch_budgets(live, refill);
  ASSERT_TRUE(use_host(live, disk, 5000));
  EXPECT_FALSE(use_host(live, disk));
  const acl::HostUsage& usage = *host_budget(live).usage;
  Edit edit;
  edit.budgets["a"].hosts["api.test"] = {1, 1600 - usage.tokens.balance(), -usage.owed_tokens};
  const auto undo = live.apply(edit);
  ASSERT_TRUE(undo);
  EXPECT_EQ(usage.requests.left(), 5);
  EXPECT_EQ(usage.tokens.left(), 1600);
  EXPECT_EQ(usage.minute.used(now), 0U);
  EXPECT_TRUE(acl::fault_of(host_budget(live), now).empty());
  ASSERT_TRUE(live.apply(*undo));
  EXPECT_EQ(usage.minute.used(now), 1U);
  EXPECT_FALSE(acl::fault_of(host_budget(live), now).empty());
}

}  // namespace
}  // namespace stile::control
