// LivePolicy: changes over files, undone, inherited and saved.
#include "control/live_policy.h"

#include <gtest/gtest.h>

#include "control/grants.h"
#include "tests/control/live.h"

namespace stile::control {
namespace {

std::string agent(const std::string& id, const std::string& source, const std::string& more) {
  return "[[agent]]\nid = \"" + id + "\"\nsource = [\"" + source + "\"]\n" + more + "\n";
}
std::string two_agents(const std::string& allow = "x.test") {
  return agent("a", "10.0.0.1", "allow = [\"" + allow + "\"]") +
         agent("b", "10.0.0.2", "allow = [\"x.test\"]");
}

Edit grant(const LivePolicy& live, const std::string& id, const char* host) {
  ControlRequest request;
  request.hosts = patterns({host});
  auto overlay = allow(*live.find(id)->entry->policy, *live.overlay(id), request, {"me", 0, "g"});
  EXPECT_TRUE(overlay);
  Edit edit;
  edit.agents[id] = std::make_shared<const AgentOverlay>(overlay->overlay);
  return edit;
}

TEST(LivePolicy, TheFleetsSwitchIsAboveEveryMode) {
  auto live = live_of(two_agents());
  Edit edit;
  edit.fleet_offline = true;
  const auto undo = live.apply(edit);
  ASSERT_TRUE(undo);
  live.publish();
  EXPECT_EQ(reason(live, "a", "x.test"), "offline");
  Edit mode;
  mode.mode = acl::Mode::observe;
  ASSERT_TRUE(live.apply(mode));
  live.publish();
  EXPECT_EQ(reason(live, "a", "x.test"), "offline");
  ASSERT_TRUE(live.apply(*undo));
  live.publish();
  EXPECT_EQ(reason(live, "a", "x.test"), "none");
}

TEST(LivePolicy, TheFleetsSwitchIsKept) {
  SavedState saved;
  saved.fleet.offline = true;
  EXPECT_EQ(reason(live_of(two_agents(), saved), "a", "x.test"), "offline");
}

Edit denial(const char* id, const char* host) {
  AgentOverlay overlay;
  overlay.denied = patterns({host});
  Edit edit;
  edit.agents[id] = std::make_shared<const AgentOverlay>(overlay);
  return edit;
}

Edit card(const std::string& id, const std::string& source) {
  Edit edit;
  edit.cards[id] = std::make_shared<const PutCard>(PutCard{
      R"({"agent_id":")" + id + R"(","source":[")" + source + R"("],"allowed_hosts":["x.test"]})",
      0, true});
  return edit;
}

Edit applied(LivePolicy& live, const Edit& edit) {
  auto undo = live.apply(edit);
  EXPECT_TRUE(undo) << (undo ? "" : undo.error().message);
  live.publish();
  return undo ? *undo : Edit{};
}

TEST(LivePolicy, OnlyTheChangedAgentGetsANewPolicy) {
  auto live = live_of(two_agents());
  const auto a = live.find("a")->policy;
  const auto b = live.find("b")->policy;
  applied(live, grant(live, "a", "y.test"));
  EXPECT_NE(live.find("a")->policy, a);
  EXPECT_EQ(live.find("b")->policy, b);
  EXPECT_EQ(live.find("a")->policy->account, a->account);
  EXPECT_EQ(reason(live, "a", "y.test"), "none");
  EXPECT_EQ(reason(live, "b", "y.test"), "host-not-allowed");
}

TEST(LivePolicy, EveryEditCanBeUndone) {
  auto live = live_of(two_agents());
  Edit offline;
  offline.mode = acl::Mode::offline;
  Edit removal;
  removal.agents["a"] = std::make_shared<const AgentOverlay>(
      AgentOverlay{{}, live.find("a")->entry->identity.entry, {}, {}});
  for (const Edit& edit : {grant(live, "a", "y.test"), denial("a", "x.test"), offline, removal,
                           card("c", "10.0.0.3")}) {
    const std::string before = state_text(live.save());
    const Edit undo = applied(live, edit);
    EXPECT_NE(state_text(live.save()), before);
    applied(live, undo);
    EXPECT_EQ(state_text(live.save()), before);
    EXPECT_EQ(reason(live, "a", "x.test"), "none");
    EXPECT_EQ(live.agents().size(), 2U);
  }
}

TEST(LivePolicy, ACardThatDoesNotFitChangesNothing) {
  auto live = live_of(two_agents());
  for (const auto& edit : {card("a", "10.0.0.9"), card("c", "10.0.0.2")}) {
    const auto undo = live.apply(edit);
    ASSERT_FALSE(undo);
    EXPECT_EQ(undo.error().code, ErrorCode::conflict);
  }
  EXPECT_EQ(live.agents().size(), 2U);
  EXPECT_TRUE(live.cards().empty());
  applied(live, card("c", "10.0.0.9"));  // what was refused has taken nothing
  EXPECT_EQ(live.agents().size(), 3U);
}

TEST(LivePolicy, WhatARemovedAgentHadIsFree) {
  auto live = live_of(two_agents());
  Edit removal;
  removal.agents["a"] = std::make_shared<const AgentOverlay>(
      AgentOverlay{{}, live.find("a")->entry->identity.entry, {}, {}});
  applied(live, removal);
  EXPECT_EQ(live.find("a"), nullptr);
  applied(live, card("a", "10.0.0.1"));
  EXPECT_TRUE(live.is_put("a"));
  const auto again = live_of(two_agents(), live.save());
  EXPECT_TRUE(again.is_put("a"));
}

TEST(LivePolicy, GrantsGoWithTheAgentRevocationsWithTheEntry) {
  struct Row {
    std::string config;
    bool keeps_grant, keeps_denial;
  };
  const Row rows[] = {
      {two_agents(), true, true},
      {"\n\n" + two_agents(), true, true},  // it only stands elsewhere
      {two_agents("z.test"), true, false},
      {agent("a", "10.0.0.7", "allow = [\"x.test\"]"), false, false},
      {agent("b", "10.0.0.2", ""), false, false},
  };
  for (const auto& row : rows) {
    for (const bool over_restart : {false, true}) {
      auto live = live_of(two_agents());
      applied(live, denial("a", "x.test"));
      Edit both = grant(live, "a", "y.test");
      applied(live, both);
      if (over_restart) {
        live = live_of(row.config, live.save());
      } else {
        static_cast<void>(live.rebase(base_of(row.config)));
        live.publish();
      }
      EXPECT_EQ(!live.overlay("a")->grants.empty(), row.keeps_grant) << row.config;
      EXPECT_EQ(!live.overlay("a")->denied.empty(), row.keeps_denial) << row.config;
    }
  }
}

TEST(LivePolicy, AKillSwitchIsNotUndoneByANewCard) {
  auto live = live_of(two_agents());
  Edit offline;
  offline.agents["a"] =
      std::make_shared<const AgentOverlay>(AgentOverlay{acl::Mode::offline, {}, {}, {}});
  applied(live, offline);
  static_cast<void>(live.rebase(base_of(agent("b", "10.0.0.2", ""))));
  static_cast<void>(live.rebase(base_of(agent("a", "10.0.0.9", "allow = [\"x.test\"]"))));
  live.publish();
  EXPECT_EQ(reason(live, "a", "x.test"), "offline");
}

TEST(LivePolicy, AReloadThatChangesNothingKeepsEveryAccount) {
  auto live = live_of(agent("a", "10.0.0.1", "bytes_up = \"1000\""));
  const auto account = live.find("a")->account;
  ASSERT_TRUE(account->bytes_up.book(400));
  account->bytes_up.settle(true);
  EXPECT_EQ(account->bytes_up.take(300), 300U);
  static_cast<void>(live.rebase(base_of(agent("a", "10.0.0.1", "bytes_up = \"2000\""))));
  EXPECT_EQ(live.find("a")->account, account);
  EXPECT_EQ(account->bytes_up.left(), 1700);
}

TEST(LivePolicy, KnowsWhenTheFirstThingRunsOut) {
  auto live = live_of(two_agents());
  EXPECT_FALSE(live.next_expiry(0));
  ControlRequest request;
  request.hosts = patterns({"y.test"});
  request.ttl_seconds = 5;
  auto overlay = allow(*live.find("a")->entry->policy, {}, request, {"me", 0, "g"});
  Edit edit;
  edit.agents["a"] = std::make_shared<const AgentOverlay>(overlay->overlay);
  applied(live, edit);
  EXPECT_EQ(live.next_expiry(0), 5'000'000);
  EXPECT_EQ(reason(live, "a", "y.test", 4'999'999), "none");
  EXPECT_EQ(reason(live, "a", "y.test", 5'000'000), "host-not-allowed");
}

}  // namespace
}  // namespace stile::control
