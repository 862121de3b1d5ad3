// Applier: what reaches the daemon, and what becomes of what it refuses.
#include "fleet/applier.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fleet/keys.h"

namespace stile::fleet {
namespace {

// A daemon that refuses policies with a certain word in them.
struct Daemon {
  config::FleetState state;  // in force
  std::size_t calls = 0;
  bool is_away = false;

  Handed operator()(const config::FleetState& next) {
    ++calls;
    if (is_away) return {Handed::Kind::away, "no daemon"};
    for (const auto& policy : next.layer.policies) {
      if (policy.body.find("invalid") != std::string::npos) {
        return {Handed::Kind::refused, "fleet:" + policy.name + ": unknown key"};
      }
    }
    state = next;
    return {Handed::Kind::done};
  }
  [[nodiscard]] std::vector<std::string> policies() const {
    std::vector<std::string> names;
    for (const auto& policy : state.layer.policies) names.push_back(policy.name);
    return names;
  }
};

struct World {
  Daemon daemon;
  Applier applier;
  explicit World(const config::FleetState& kept = {})
      : applier{trusted(), {"web-1", {"prod"}}, kept, std::ref(daemon)} {}

  void take(const std::vector<std::pair<std::string, Envelope>>& objects, UnixMicros when = now) {
    std::vector<StoredObject> found;
    for (const auto& [name, envelope] : objects)
      found.push_back({name, signed_text(name, envelope)});
    applier.take(std::move(found), when);
  }
  [[nodiscard]] std::string refusal(const std::string& name) const {
    for (const auto& one : daemon.state.refused) {
      if (one.name == name) return one.reason;
    }
    return {};
  }
};

const Envelope invalid = envelope_of(1, R"({"invalid":1})");
using Names = std::vector<std::string>;

TEST(Applier, HandsOverEverythingInOneStep) {
  World world;
  world.take({{"policy/a", envelope_of(1)},
              {"policy/b", envelope_of(2)},
              {"switch", envelope_of(1, switch_body(Switch::offline))}});
  EXPECT_EQ(world.daemon.calls, 1U);
  EXPECT_EQ(world.daemon.policies(), (Names{"a", "b"}));
  EXPECT_TRUE(world.daemon.state.offline);
}

TEST(Applier, KnowsASwitchThatTurnsOffline) {
  const World world;
  const auto turns = [&](const std::string& name, Switch mode, const std::string& signed_as) {
    const auto envelope = envelope_of(1, switch_body(mode));
    return world.applier.turns_offline({{name, signed_text(signed_as, envelope)}}, now);
  };
  EXPECT_TRUE(turns("switch", Switch::offline, "switch"));
  EXPECT_FALSE(turns("switch", Switch::online, "switch"));
  EXPECT_FALSE(turns("switch", Switch::offline, "policy/a"));  // of another name
  EXPECT_FALSE(turns("policy/a", Switch::offline, "policy/a"));
}

TEST(Applier, DoesNotRepeatWhatIsInForce) {
  World world;
  world.take({{"policy/a", envelope_of(1)}});
  world.take({{"policy/a", envelope_of(1)}});
  world.applier.settle(now);
  EXPECT_EQ(world.daemon.calls, 1U);
}

TEST(Applier, KeepsWhatTheStoreNoLongerHas) {
  World world;
  world.take({{"policy/a", envelope_of(1)}});
  world.take({});
  EXPECT_EQ(world.daemon.policies(), Names{"a"});
}

TEST(Applier, AnInvalidPolicyDoesNotKeepTheOthersOut) {
  World world;
  world.take({{"policy/a", envelope_of(1)},
              {"policy/b", invalid},
              {"switch", envelope_of(1, switch_body(Switch::offline))}});
  EXPECT_EQ(world.daemon.policies(), Names{"a"});
  EXPECT_TRUE(world.daemon.state.offline);
  EXPECT_EQ(world.refusal("policy/b"), "fleet:b: unknown key");
  EXPECT_EQ(world.applier.ledger().entries().count("policy/b"), 0U);
}

TEST(Applier, AnInvalidSerialLeavesTheOneBefore) {
  World world;
  world.take({{"policy/b", envelope_of(1, R"({"egress":{}})")}});
  auto next = invalid;
  next.serial = 2;
  world.take({{"policy/b", next}});
  EXPECT_EQ(world.daemon.state.layer.policies.at(0).body, R"({"egress":{}})");
  EXPECT_NE(world.refusal("policy/b"), "");
  world.take({{"policy/b", envelope_of(3)}});
  EXPECT_EQ(world.daemon.state.layer.policies.at(0).serial, 3U);
  EXPECT_EQ(world.refusal("policy/b"), "");
}

TEST(Applier, TriesAgainWhenTheDaemonIsBack) {
  World world;
  world.daemon.is_away = true;
  world.take({{"policy/a", envelope_of(1)}});
  EXPECT_TRUE(world.daemon.policies().empty());
  ASSERT_TRUE(world.applier.next_due());
  world.daemon.is_away = false;
  world.applier.settle(now + 2 * second_us);
  EXPECT_EQ(world.daemon.policies(), Names{"a"});
  EXPECT_FALSE(world.applier.next_due());
}

TEST(Applier, WaitsForNotBefore) {
  World world;
  world.take({{"policy/a", envelope_of(1)}}, 50 * second_us);
  EXPECT_TRUE(world.daemon.policies().empty());
  EXPECT_NE(world.refusal("policy/a").find("valid from"), std::string::npos);
  EXPECT_EQ(world.applier.next_due(), 100 * second_us);
  world.applier.settle(100 * second_us);
  EXPECT_EQ(world.daemon.policies(), Names{"a"});
  EXPECT_EQ(world.refusal("policy/a"), "");
}

TEST(Applier, BeginsWithWhatTheDaemonKept) {
  World first;
  first.take({{"policy/a", envelope_of(5)}});
  World second{first.daemon.state};
  second.take({{"policy/a", envelope_of(4)}});
  EXPECT_NE(second.refusal("policy/a").find("rolled back"), std::string::npos);
  EXPECT_EQ(second.daemon.policies(), Names{"a"});
  EXPECT_EQ(second.daemon.state.layer.policies.at(0).serial, 5U);
}

TEST(Applier, RemovesThePolicyOfASignerThatIsGone) {
  config::FleetState kept;
  {
    World first;
    first.take({{"policy/a", envelope_of(5)}});
    kept = first.daemon.state;
  }
  Signers others;
  ASSERT_TRUE(others.add(make_key_pair()->public_pem));
  Daemon daemon;
  daemon.state = kept;
  Applier applier{others, {"web-1", {}}, kept, std::ref(daemon)};
  applier.settle(now);
  EXPECT_TRUE(daemon.policies().empty());
}

TEST(Applier, SlicesAddUp) {
  World world;
  world.applier.add_slice("alpha", 10, 0, now);
  world.applier.add_slice("alpha", 5, 0, now);
  EXPECT_EQ(world.daemon.state.layer.slices.at("alpha"), (config::FleetSlice{15, 0}));
  World again{world.daemon.state};
  again.applier.add_slice("alpha", 1, 100, now);
  EXPECT_EQ(again.daemon.state.layer.slices.at("alpha"), (config::FleetSlice{16, 100}));
}

TEST(Applier, BoundsWhatAStoreCanMakeItRemember) {
  World world;
  std::vector<StoredObject> many;
  for (std::size_t i = 0; i < 3 * max_objects; ++i)
    many.push_back({"policy/p" + std::to_string(i), "x"});
  world.applier.take(std::move(many), now);
  EXPECT_LE(world.daemon.state.refused.size(), max_objects);
}

TEST(Applier, KeepsNothingOfWhatNobodySigned) {
  World world;
  const std::string good = signed_text("policy/a", envelope_of(2, "{}"));
  EXPECT_TRUE(world.applier.is_worth_keeping("policy/a", good, now));
  EXPECT_FALSE(world.applier.is_worth_keeping("policy/b", good, now));  // signed for another name
  EXPECT_FALSE(world.applier.is_worth_keeping("policy/c", "x", now));
  EXPECT_FALSE(world.applier.is_worth_keeping("hosts/x", good, now));
  world.applier.take({{"policy/a", good}}, now);
  EXPECT_NE(world.refusal("policy/b"), "");
  EXPECT_NE(world.refusal("policy/c"), "");
  EXPECT_EQ(world.refusal("hosts/x"), "");
  EXPECT_EQ(world.daemon.policies(), Names{"a"});
}

}  // namespace
}  // namespace stile::fleet
