// Ledger: time, serials and memory.
#include "fleet/ledger.h"

#include <gtest/gtest.h>

#include "tests/fleet/keys.h"

namespace stile::fleet {
namespace {

using Kind = ObjectJudgement::Kind;
const FleetMember web{"web-1", {"prod"}};

Kind judge(const Ledger& ledger, std::string_view name, const std::string& text,
           UnixMicros when = now) {
  return ledger.judge(name, text, trusted(), when).kind;
}

void take(Ledger& ledger, const std::string& name, const Envelope& envelope) {
  auto judgement = ledger.judge(name, signed_text(name, envelope), trusted(), now);
  ASSERT_EQ(judgement.kind, Kind::accepted) << judgement.reason;
  ledger.accept(name, std::move(*judgement.envelope), web);
}

TEST(Ledger, AcceptsOnlyHigherSerials) {
  Ledger ledger;
  const auto five = signed_text("policy/base", envelope_of(5));
  EXPECT_EQ(judge(ledger, "policy/base", five), Kind::accepted);
  take(ledger, "policy/base", envelope_of(5));
  EXPECT_EQ(judge(ledger, "policy/base", five), Kind::unchanged);
  EXPECT_EQ(judge(ledger, "policy/base", signed_text("policy/base", envelope_of(4))),
            Kind::refused);
  EXPECT_EQ(judge(ledger, "policy/base", signed_text("policy/base", envelope_of(6))),
            Kind::accepted);
  // The same serial twice: one of the two was meant for someone else.
  EXPECT_EQ(judge(ledger, "policy/base", signed_text("policy/base", envelope_of(5, R"({"a":1})"))),
            Kind::refused);
  // Serials count for each name.
  EXPECT_EQ(judge(ledger, "policy/other", signed_text("policy/other", envelope_of(1))),
            Kind::accepted);
}

struct TimeCase {
  UnixMicros when;
  Kind kind;
};

TEST(Ledger, AcceptsOnlyWhatIsValidNow) {
  const auto text = signed_text("policy/base", envelope_of(1));
  const std::vector<TimeCase> cases{
      {99 * second_us, Kind::early},
      {100 * second_us, Kind::accepted},
      {1000 * second_us - 1, Kind::accepted},
      {1000 * second_us, Kind::refused},
      {0, Kind::early},
      {-5, Kind::early},
  };
  for (const auto& one : cases) EXPECT_EQ(judge({}, "policy/base", text, one.when), one.kind);
}

TEST(Ledger, RefusesWhatTheStoreSwappedOrForged) {
  const auto text = signed_text("policy/base", envelope_of(1));
  EXPECT_EQ(judge({}, "policy/other", text), Kind::refused);
  EXPECT_EQ(judge({}, "switch", text), Kind::refused);
  EXPECT_EQ(judge({}, "hosts/web-1", text), Kind::refused);
  const auto foreign = signed_by(*make_key_pair(), "policy/base", envelope_of(9));
  EXPECT_EQ(judge({}, "policy/base", envelope_text(foreign)), Kind::refused);
  EXPECT_EQ(judge({}, "policy/base", "\xff\xfe"), Kind::refused);
}

TEST(Ledger, RemembersOverARestart) {
  Ledger ledger;
  take(ledger, "policy/base", envelope_of(5, R"({"egress":{"deny":["a.test"]}})"));
  auto other = envelope_of(8);
  other.hosts = {"web-2"};
  take(ledger, "policy/other", other);
  const auto again = Ledger::restore(ledger.objects(), trusted(), web);
  EXPECT_EQ(again.objects(), ledger.objects());
  EXPECT_EQ(judge(again, "policy/base", signed_text("policy/base", envelope_of(4))), Kind::refused);
  EXPECT_EQ(judge(again, "policy/other", signed_text("policy/other", envelope_of(7))),
            Kind::refused);
  EXPECT_EQ(state_of(again, {}, {}).layer, state_of(ledger, {}, {}).layer);
  // Of another host, an object keeps only its serial; with new labels it may count after all.
  EXPECT_EQ(judge(again, "policy/other", signed_text("policy/other", other)), Kind::accepted);
}

TEST(Ledger, KeepsOnlyTheSerialOfAKeyThatIsGone) {
  Ledger ledger;
  take(ledger, "policy/base", envelope_of(5));
  Signers others;
  ASSERT_TRUE(others.add(make_key_pair()->public_pem));
  const auto again = Ledger::restore(ledger.objects(), others, web);
  EXPECT_TRUE(state_of(again, {}, {}).layer.policies.empty());
  EXPECT_EQ(again.entries().at("policy/base").serial, 5U);
}

TEST(Ledger, BoundsTheNumberOfObjects) {
  std::vector<config::FleetObject> many;
  for (std::size_t i = 0; i < max_objects; ++i)
    many.push_back({"policy/p" + std::to_string(i), 1, ""});
  const auto full = Ledger::restore(many, trusted(), web);
  EXPECT_EQ(judge(full, "policy/base", signed_text("policy/base", envelope_of(1))), Kind::refused);
  EXPECT_EQ(judge(full, "policy/p1", signed_text("policy/p1", envelope_of(2))), Kind::accepted);
}

TEST(FleetState, HasThePoliciesOfThisHostByName) {
  Ledger ledger;
  take(ledger, "policy/b", envelope_of(2, R"({"agent":[]})"));
  take(ledger, "policy/a", envelope_of(3));
  auto other = envelope_of(1);
  other.labels = {"test"};
  take(ledger, "policy/c", other);
  const auto state = state_of(ledger, {{"alpha", {7, 0}}}, {{"policy/x", "why"}});
  ASSERT_EQ(state.layer.policies.size(), 2U);
  EXPECT_EQ(state.layer.policies[0].name, "a");
  EXPECT_EQ(state.layer.policies[1].body, R"({"agent":[]})");
  EXPECT_EQ(state.objects.size(), 3U);
  EXPECT_FALSE(state.offline);
  const auto read = config::parse_fleet(config::fleet_text(state));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, state);
}

TEST(FleetState, IsOfflineBySwitch) {
  Ledger ledger;
  take(ledger, "switch", envelope_of(1, switch_body(Switch::offline)));
  EXPECT_TRUE(state_of(ledger, {}, {}).offline);
  take(ledger, "switch", envelope_of(2, switch_body(Switch::online)));
  EXPECT_FALSE(state_of(ledger, {}, {}).offline);
  auto elsewhere = envelope_of(3, switch_body(Switch::offline));
  elsewhere.labels = {"test"};
  take(ledger, "switch", elsewhere);
  EXPECT_FALSE(state_of(ledger, {}, {}).offline);
  EXPECT_EQ(judge(ledger, "switch", signed_text("switch", envelope_of(4, R"({"mode":"off"})"))),
            Kind::refused);
}

TEST(FleetBudgets, AreTheBytesUpOfAgents) {
  Ledger ledger;
  take(ledger, "policy/a",
       envelope_of(1, R"({"agent":[{"bytes_up":"1MiB","id":"alpha"},{"id":"beta"}]})"));
  take(ledger, "policy/b",
       envelope_of(1,
                   R"({"agent":[{"bytes_up":5,"id":"alpha"},{"agent_id":"gamma","bytes_up":9}]})"));
  const std::map<std::string, std::uint64_t> expected{{"alpha", 1048576}, {"gamma", 9}};
  EXPECT_EQ(fleet_budgets(ledger), expected);
}

}  // namespace
}  // namespace stile::fleet
