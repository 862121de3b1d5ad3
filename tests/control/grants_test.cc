// Grants: what allow and revoke make of an overlay.
#include "control/grants.h"

#include <gtest/gtest.h>

#include "tests/control/live.h"

namespace stile::control {
namespace {

constexpr const char* grants_config = R"(
[[agent]]
id = "a"
source = ["10.0.0.1"]
allow = ["own.test", ".wide.test"]
deny = [".no.test"]
)";

class Grants : public testing::Test {
 protected:
  Outcome<Permission> allowed(std::initializer_list<const char*> hosts) {
    ControlRequest request;
    request.hosts = patterns(hosts);
    auto next =
        allow(entry(), overlay_, request, {"me", 1'000'000, "g" + std::to_string(++count_)});
    if (next) overlay_ = next->overlay;
    return next;
  }
  Outcome<Revocation> revoked(std::initializer_list<const char*> hosts) {
    ControlRequest request;
    request.hosts = patterns(hosts);
    auto next = revoke(entry(), overlay_, request);
    if (next) overlay_ = next->overlay;
    return next;
  }
  [[nodiscard]] const acl::AgentPolicy& entry() const { return *live_.find("a")->entry->policy; }

  LivePolicy live_ = live_of(grants_config);
  AgentOverlay overlay_;
  int count_ = 0;
};

TEST_F(Grants, KeepsWhatWasAskedFor) {
  ControlRequest request;
  request.hosts = patterns({"x.test"});
  request.ttl_seconds = 60;
  request.max_requests = 2;
  request.bytes_up = 1000;
  request.reason = "why";
  const auto next = allow(entry(), {}, request, {"me", 5'000'000, "g"});
  ASSERT_TRUE(next);
  const GrantState& grant = next->overlay.grants.at(0);
  EXPECT_EQ(grant.expires, 65'000'000);
  EXPECT_EQ(grant.made.lease->requests.left(), 2);
  EXPECT_EQ(grant.made.lease->bytes_up.left(), 1000);
  EXPECT_EQ(grant.actor, "me");
}

TEST_F(Grants, NeverBeatADenyRule) {
  for (const char* host : {"no.test", "x.no.test", ".no.test", "*.no.test"}) {
    const auto next = allowed({"fine.test", host});
    ASSERT_FALSE(next) << host;
    EXPECT_EQ(next.error().code, ErrorCode::denied_by_rule);
  }
  EXPECT_TRUE(overlay_.grants.empty());
}

TEST_F(Grants, AreNotForThisHostItselfUnlessAnExceptionOpensIt) {
  for (const char* host : {"localhost", "http://localhost", "db.localhost:5432"}) {
    const auto next = allowed({"fine.test", host});
    ASSERT_FALSE(next) << host;
    EXPECT_EQ(next.error().code, ErrorCode::bad_request);
    EXPECT_NE(next.error().message.find("can never work"), std::string::npos);
  }
  EXPECT_TRUE(overlay_.grants.empty());
  live_ = live_of(std::string{grants_config} + "private_exceptions = [\"127.0.0.1/32\"]\n");
  EXPECT_TRUE(allowed({"localhost"}));
}

TEST_F(Grants, AreEndedHostByHost) {
  ASSERT_TRUE(allowed({"x.test", "y.test"}));
  const auto lease = overlay_.grants[0].made.lease;
  EXPECT_TRUE(revoked({"x.test"})->ended.empty());
  ASSERT_EQ(overlay_.grants.size(), 1U);
  EXPECT_EQ(overlay_.grants[0].hosts.size(), 1U);
  EXPECT_EQ(overlay_.grants[0].made.lease, lease);  // what it has used stays used
  EXPECT_EQ(revoked({"y.test"})->ended, std::vector<std::string>{"g1"});
  EXPECT_TRUE(overlay_.is_empty());
}

TEST_F(Grants, ARevokedHostOfThePolicyIsDenied) {
  EXPECT_EQ(revoked({"own.test", "x.wide.test", "other.test"})->denied,
            (std::vector<std::string>{"own.test", "x.wide.test"}));
  EXPECT_TRUE(revoked({"own.test"})->denied.empty());  // it is already
  ASSERT_TRUE(allowed({"own.test"}));
  ASSERT_EQ(overlay_.denied.size(), 1U);
  EXPECT_EQ(overlay_.denied[0].text(), "x.wide.test");
}

TEST_F(Grants, AllowingARevokedHostOfThePolicyOnlyTakesTheRevocationBack) {
  for (const char* host : {"own.test", "x.wide.test", ".wide.test", "*"}) {
    ASSERT_EQ(revoked({host})->denied, std::vector<std::string>{host});
    const auto again = allowed({host});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->restored, std::vector<std::string>{host});
    EXPECT_FALSE(again->is_granted);
    EXPECT_TRUE(overlay_.is_empty()) << host;  // as if nothing had happened
  }
}

TEST_F(Grants, AllowingARevokedHostAmongOthersGrantsTheOthers) {
  ASSERT_TRUE(revoked({"own.test"}));
  const auto both = allowed({"own.test", "x.test"});
  ASSERT_TRUE(both && both->is_granted);
  EXPECT_EQ(both->restored, std::vector<std::string>{"own.test"});
  ASSERT_EQ(overlay_.grants.at(0).hosts.size(), 1U);
  EXPECT_EQ(overlay_.grants[0].hosts[0].text(), "x.test");
}

TEST_F(Grants, AllowingWhatOnlyAnEndedGrantAllowedIsAGrant) {
  ASSERT_TRUE(allowed({".grant.test"}));
  ASSERT_TRUE(revoked({"x.grant.test"}));
  ControlRequest end;
  end.grant = "g1";
  overlay_ = revoke(entry(), overlay_, end)->overlay;
  const auto again = allowed({"x.grant.test"});
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->is_granted);
  EXPECT_TRUE(overlay_.denied.empty());
}

TEST_F(Grants, AHostBelowAWiderGrantIsDenied) {
  ASSERT_TRUE(allowed({".grant.test"}));
  EXPECT_EQ(revoked({"x.grant.test"})->denied, std::vector<std::string>{"x.grant.test"});
  EXPECT_EQ(overlay_.grants.size(), 1U);
}

TEST_F(Grants, AWiderRevocationStandsInTheWayOfANarrowerGrant) {
  ASSERT_TRUE(revoked({".wide.test"}));
  const auto narrow = allowed({"x.wide.test"});
  ASSERT_FALSE(narrow);
  EXPECT_EQ(narrow.error().code, ErrorCode::denied_by_rule);
  EXPECT_TRUE(allowed({".wide.test"}));
  EXPECT_TRUE(overlay_.denied.empty());
}

TEST_F(Grants, AWiderRevocationReplacesNarrowerOnes) {
  ASSERT_TRUE(revoked({"a.wide.test", "b.wide.test"}));
  ASSERT_TRUE(revoked({".wide.test"}));
  ASSERT_EQ(overlay_.denied.size(), 1U);
}

TEST_F(Grants, HaveABound) {
  for (std::size_t i = 0; i < max_grants_per_agent; ++i) ASSERT_TRUE(allowed({"x.test"}));
  const auto next = allowed({"x.test"});
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, ErrorCode::conflict);
}

TEST_F(Grants, RunOut) {
  ControlRequest request;
  request.hosts = patterns({"x.test"});
  request.ttl_seconds = 1;
  const auto next = allow(entry(), {}, request, {"me", 0, "g"});
  ASSERT_TRUE(next);
  std::vector<std::string> ended;
  EXPECT_EQ(without_expired(next->overlay, 999'999, ended).grants.size(), 1U);
  EXPECT_TRUE(without_expired(next->overlay, 1'000'000, ended).grants.empty());
  EXPECT_EQ(ended, std::vector<std::string>{"g"});
}

}  // namespace
}  // namespace stile::control
