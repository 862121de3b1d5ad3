// What is put to a person, and what never is.
#include <gtest/gtest.h>

#include "acl/decide_name.h"
#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using test::agent;

AgentPolicy asking(AgentPolicy policy) {
  policy.asks = true;
  policy.ports = {443};
  return policy;
}

bool asks(const AgentPolicy& policy, std::string_view authority, Scheme scheme = Scheme::tunnel) {
  const Decision decision = test::ask(policy, authority, scheme);
  EXPECT_TRUE(!decision.may_ask || !decision.passes()) << authority;
  return decision.may_ask;
}

TEST(MayAsk, OnlyWhatLacksARule) {
  const AgentPolicy policy = asking(agent({"a.com"}, {".denied.com", "port.com:8443"}));
  EXPECT_FALSE(asks(policy, "a.com:443"));  // allowed
  EXPECT_TRUE(asks(policy, "b.com:443"));
  EXPECT_TRUE(asks(policy, "a.com:8443"));  // port-not-allowed
  EXPECT_TRUE(asks(policy, "b.com:80", Scheme::http));
  EXPECT_FALSE(asks(policy, "x.denied.com:443"));
  EXPECT_FALSE(asks(policy, "x.denied.com:8443"));  // its port is refused first
  EXPECT_FALSE(asks(policy, "port.com:8443"));
  for (const auto authority : {"1.2.3.4:443", "[::1]:443", "2130706433:443", "1.2.3.4:8443",
                               "b.com", "b.com:0", "b c.com:443", "", "b_c.com:443"}) {
    EXPECT_FALSE(asks(policy, authority)) << authority;
  }
}

TEST(MayAsk, NeverForStileItself) {
  const AgentPolicy policy = asking(agent({}));
  EXPECT_FALSE(asks(policy, "stile.internal:443"));
  EXPECT_FALSE(asks(policy, "STILE.internal.:80", Scheme::http));
  EXPECT_TRUE(asks(policy, "not-stile.internal:443"));
}

TEST(MayAsk, NeverForLocalhostThatNoAnswerCouldOpen) {
  AgentPolicy policy = asking(agent({}));
  EXPECT_FALSE(asks(policy, "LocalHost.:443"));
  EXPECT_FALSE(asks(policy, "db.localhost:80", Scheme::http));
  policy.private_exceptions = {{*Prefix::parse("127.0.0.1/32"), nullptr}};
  EXPECT_TRUE(asks(policy, "localhost:443"));
}

TEST(MayAsk, NotUnlessTheAgentAsks) {
  AgentPolicy policy = asking(agent({}));
  policy.asks = false;
  EXPECT_FALSE(asks(policy, "b.com:443"));
}

TEST(MayAsk, NotForAnAgentThatIsNotServed) {
  AgentPolicy policy = asking(agent({}));
  policy.mode = Mode::offline;
  EXPECT_FALSE(asks(policy, "b.com:443"));
  policy.mode = Mode::observe;
  EXPECT_FALSE(asks(policy, "b.com:443"));  // it passes
  policy.mode = Mode::enforce;
  policy.expires = 5;
  Query query = test::query(policy, "b.com:443");
  query.now = 5;
  EXPECT_FALSE(decide(query).may_ask);
  query.now = 4;
  EXPECT_TRUE(decide(query).may_ask);
  query.budget_spent = true;  // a grant would not help
  EXPECT_FALSE(decide(query).may_ask);
}

TEST(MayAsk, NotForTheOrderedListOfSquid) {
  AgentPolicy policy = asking(agent({}));
  policy.access = std::make_shared<AccessList>(std::vector<Condition>{}, std::vector<AccessRule>{},
                                               AccessRule{});
  EXPECT_FALSE(asks(policy, "b.com:443"));
}

// a.com: GET of /x only.
AgentPolicy opened() {
  AgentPolicy policy = asking(agent({}));
  auto inside = std::make_shared<Inside>();
  inside->request_hosts = test::rule_set({"a.com"}, "requests");
  inside->requests_of_host = {{0}};
  inside->requests.resize(1);
  inside->requests[0].methods = {"GET"};
  inside->requests[0].paths = {*PathPattern::parse("/x")};
  policy.allow.sets.push_back(inside->request_hosts);
  policy.inside = inside;
  return policy;
}

Decision judged(const AgentPolicy& policy, std::string_view method, std::string_view path,
                bool websocket = false) {
  RequestFacts facts;
  facts.names_tunnel = true;
  facts.method = method;
  facts.path = facts.target = path;
  facts.wants_websocket = websocket;
  Query query = test::query(policy, "a.com:443");
  query.inside = &facts;
  return decide(query);
}

TEST(MayAsk, ForAMethodOrAPathThatNoEntryHas) {
  const AgentPolicy policy = opened();
  EXPECT_TRUE(judged(policy, "GET", "/x").passes());
  EXPECT_TRUE(judged(policy, "GET", "/y").may_ask);
  EXPECT_TRUE(judged(policy, "POST", "/x").may_ask);
  EXPECT_FALSE(judged(policy, "GET", "/a//b").may_ask);  // bad-request
  EXPECT_FALSE(judged(policy, "GET", "/x", true).may_ask);
  EXPECT_FALSE(judged(policy, "GET", "/y", true).may_ask);
}

TEST(GrantedRequest, AllowsExactlyThatRequest) {
  AgentPolicy policy = opened();
  Grant grant = test::grant("g", {"a.com:443"});
  grant.only = GrantedRequest{"POST", "/y"};
  policy.grants.push_back(grant);
  const Decision decision = judged(policy, "POST", "/y");
  EXPECT_TRUE(decision.passes());
  ASSERT_NE(decision.grant, nullptr);
  EXPECT_EQ(decision.grant->id, "g");
  for (const auto& [method, path] :
       {std::pair{"GET", "/y"}, {"POST", "/y/"}, {"POST", "/Y"}, {"PUT", "/y"}, {"POST", "/"}}) {
    EXPECT_FALSE(judged(policy, method, path).passes()) << method << path;
  }
  EXPECT_FALSE(judged(policy, "POST", "/y", true).passes());
}

TEST(GrantedRequest, APathOfAnAgentIsNoPattern) {
  AgentPolicy policy = opened();
  Grant grant = test::grant("g", {"a.com:443"});
  grant.only = GrantedRequest{"GET", "/**"};
  policy.grants.push_back(grant);
  EXPECT_TRUE(judged(policy, "GET", "/**").passes());
  EXPECT_FALSE(judged(policy, "GET", "/y").passes());
}

TEST(GrantedRequest, OpensNoHost) {
  AgentPolicy policy = asking(agent({}));
  Grant grant = test::grant("g", {"b.com:443"});
  grant.only = GrantedRequest{"GET", "/"};
  policy.grants.push_back(grant);
  EXPECT_EQ(test::answer(policy, "b.com:443"), "deny host-not-allowed");
}

TEST(DecideName, ANameThatWouldBeAskedAboutResolves) {
  AgentPolicy policy = asking(agent({"a.com"}, {"denied.com"}));
  const auto resolves = [&](std::string_view name) {
    return decide_name(&policy, name, Address{}, 0).passes();
  };
  EXPECT_TRUE(resolves("a.com"));
  EXPECT_TRUE(resolves("b.com"));
  EXPECT_FALSE(resolves("denied.com"));
  EXPECT_FALSE(resolves("stile.internal"));
  EXPECT_FALSE(resolves("b c"));
  policy.asks = false;
  EXPECT_FALSE(resolves("b.com"));
}

TEST(Trace, SaysThatAPersonIsAsked) {
  const AgentPolicy policy = asking(agent({}));
  Trace trace;
  static_cast<void>(decide(test::query(policy, "b.com:443"), &trace));
  EXPECT_NE(trace.back().detail.find("A person is asked"), std::string::npos);
}

}  // namespace
}  // namespace stile::acl
