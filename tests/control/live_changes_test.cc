// LiveChanges: what was changed through the socket, written into a config that is only tried.
#include "control/live_changes.h"

#include <gtest/gtest.h>

#include "tests/control/live.h"

namespace stile::control {
namespace {

constexpr const char* agents_of_the_file = R"(
[[agent]]
id = "alpha"
source = ["10.0.0.1"]
allow = ["a.test"]
[[agent]]
id = "beta"
source = ["10.0.0.2"]
allow = ["a.test", "b.test"]
)";

GrantState grant_for(std::initializer_list<const char*> hosts, std::optional<UnixMicros> expires) {
  GrantState grant;
  grant.id = "g";
  grant.hosts = patterns(hosts);
  grant.expires = expires;
  EXPECT_TRUE(make_grant(grant));
  return grant;
}

std::string texts(const std::vector<config::PlacedPattern>& list) {
  std::string all;
  for (const auto& placed : list) all += placed.pattern.text() + ' ';
  return all;
}

TEST(LiveChanges, GrantsThatHoldAreAllowedAndRevokedHostsAreDenied) {
  auto base = base_of(agents_of_the_file);
  AgentOverlay alpha;
  alpha.grants = {grant_for({"g.test"}, std::nullopt), grant_for({"h.test"}, 200),
                  grant_for({"old.test"}, 100)};
  alpha.denied = patterns({"a.test"});
  LiveChanges live;
  live.overlays["alpha"] = std::make_shared<const AgentOverlay>(alpha);
  base->loaded.settings.egress.fleet_grants = {
      {"fleet:grants", "beta", {{*acl::Pattern::parse("f.test")}}, 200},
      {"fleet:grants", "beta", {{*acl::Pattern::parse("past.test")}}, 100}};
  write_into(base->loaded, live, 100);
  const auto& agents = base->loaded.settings.agent;
  EXPECT_EQ(texts(agents[0].allow), "a.test g.test h.test ");
  EXPECT_EQ(texts(agents[0].deny), "a.test ");
  EXPECT_EQ(texts(agents[1].allow), "a.test b.test f.test ");
  EXPECT_EQ(texts(agents[1].deny), "");
}

TEST(LiveChanges, ModesAndPutAgentsAreKept) {
  auto base = base_of(agents_of_the_file);
  AgentOverlay beta;
  beta.mode = acl::Mode::offline;
  LiveChanges live{acl::Mode::observe, {{"beta", std::make_shared<const AgentOverlay>(beta)}}, {}};
  config::AgentSettings put, taken;
  put.id = "gamma";
  taken.id = "alpha";
  live.put = {put, taken};
  write_into(base->loaded, live, 100);
  EXPECT_EQ(base->loaded.settings.egress.mode, acl::Mode::observe);
  EXPECT_EQ(base->loaded.settings.agent[1].mode, acl::Mode::offline);
  ASSERT_EQ(base->loaded.cards.accepted.size(), 1U);
  EXPECT_EQ(base->loaded.cards.accepted[0].id, "gamma");
}

}  // namespace
}  // namespace stile::control
