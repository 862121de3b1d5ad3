// Snapshot and SnapshotHolder: finding agents, and swapping while others read.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "acl/snapshot_holder.h"
#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

std::shared_ptr<const AgentPolicy> agent_from(std::string id,
                                              std::vector<std::string_view> sources) {
  auto policy = std::make_shared<AgentPolicy>();
  policy->id = std::move(id);
  for (const auto source : sources) policy->sources.push_back(*Prefix::parse(source));
  return policy;
}

TEST(Snapshot, FindsAgentsByTheLongestSourceAndById) {
  const Snapshot snapshot{7,
                          {agent_from("wide", {"10.0.0.0/8", "fd00::/8"}),
                           agent_from("narrow", {"10.1.0.0/16"}), agent_from("one", {"10.1.1.1"})}};
  const auto id_of = [&](std::string_view source) {
    const auto* found = snapshot.by_source(*Address::parse(source));
    return found == nullptr ? "nobody" : (*found)->id;
  };
  EXPECT_EQ(id_of("10.9.9.9"), "wide");
  EXPECT_EQ(id_of("10.1.2.3"), "narrow");
  EXPECT_EQ(id_of("10.1.1.1"), "one");
  EXPECT_EQ(id_of("fd12::1"), "wide");
  EXPECT_EQ(id_of("11.0.0.1"), "nobody");
  EXPECT_EQ(snapshot.generation(), 7U);
  ASSERT_NE(snapshot.by_id("narrow"), nullptr);
  EXPECT_EQ((*snapshot.by_id("narrow"))->id, "narrow");
  EXPECT_EQ(snapshot.by_id("nobody"), nullptr);
  EXPECT_EQ(Snapshot{}.by_source(Address{}), nullptr);
}

TEST(SnapshotHolder, GivesEveryReaderTheNewOneAfterASwap) {
  SnapshotHolder holder{std::make_shared<Snapshot>(1, std::vector{agent_from("a", {})})};
  SnapshotReader reader{holder};
  EXPECT_EQ(reader.get()->generation(), 1U);
  const auto* same = reader.get().get();
  EXPECT_EQ(reader.get().get(), same);
  holder.swap(std::make_shared<Snapshot>(2, std::vector{agent_from("b", {})}));
  EXPECT_EQ(reader.get()->generation(), 2U);
  EXPECT_EQ(holder.current()->generation(), 2U);
}

TEST(SnapshotHolder, FreesTheOldOneWhenItsLastReaderLetsGo) {
  auto first = std::make_shared<Snapshot>(1, std::vector{agent_from("a", {})});
  const std::weak_ptr<const Snapshot> old = first;
  SnapshotHolder holder{std::move(first)};
  SnapshotReader reader{holder};
  std::shared_ptr<const Snapshot> request = reader.get();
  holder.swap(std::make_shared<Snapshot>());
  EXPECT_EQ(reader.get()->generation(), 0U);
  EXPECT_EQ(old.lock(), request);  // a request that has begun keeps what it began with
  request.reset();
  EXPECT_TRUE(old.expired());
}

TEST(SnapshotHolder, SwapsWhileManyThreadsRead) {
  constexpr std::uint64_t last = 2000;
  const auto make = [](std::uint64_t generation) {
    return std::make_shared<Snapshot>(
        generation, std::vector{agent_from("agent-" + std::to_string(generation), {"10.0.0.1"})});
  };
  auto first = make(1);
  std::vector<std::weak_ptr<const Snapshot>> all{first};
  SnapshotHolder holder{std::move(first)};
  std::atomic<int> wrong{0};
  const auto read = [&] {
    SnapshotReader reader{holder};
    std::uint64_t seen = 0;
    while (seen < last) {
      const std::shared_ptr<const Snapshot>& now = reader.get();
      const auto* found = now->by_source(*Address::parse("10.0.0.1"));
      const bool is_whole = found != nullptr && now->generation() >= seen &&
                            (*found)->id == "agent-" + std::to_string(now->generation());
      if (!is_whole) ++wrong;
      seen = now->generation();
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) readers.emplace_back(read);
  for (std::uint64_t generation = 2; generation <= last; ++generation) {
    auto next = make(generation);
    all.push_back(next);
    holder.swap(std::move(next));
  }
  for (auto& thread : readers) thread.join();
  EXPECT_EQ(wrong, 0);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) EXPECT_TRUE(all[i].expired()) << i;
  EXPECT_FALSE(all.back().expired());
}

}  // namespace
}  // namespace stile::acl
