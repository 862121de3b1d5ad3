// AskService: whose questions it takes.
#include "proxy/commands/ask_service.h"

#include <gtest/gtest.h>

#include "tests/acl/policies.h"

namespace stile::commands {
namespace {

std::shared_ptr<const acl::AgentPolicy> alpha() {
  auto policy = std::make_shared<acl::AgentPolicy>(acl::test::agent({"a.test"}));
  policy->asks = true;
  policy->account = std::make_shared<acl::Account>();
  return policy;
}

std::shared_ptr<const acl::Snapshot> snapshot_of(std::shared_ptr<const acl::AgentPolicy> agent) {
  return std::make_shared<const acl::Snapshot>(
      1, std::vector<std::shared_ptr<const acl::AgentPolicy>>{std::move(agent)});
}

session::AskTicket ask(AskService& asks, const acl::AgentPolicy& agent, std::string_view host) {
  return asks.ask({agent, acl::Reason::host_not_allowed, "connect", host, 443, {}, {}, {}, 0});
}

// A worker decides by its snapshot and may enter the question after the agent was replaced.
TEST(AskService, ARequestOfAnEarlierLifeOfAnAgentAsksNothing) {
  boost::asio::io_context context;
  AskService asks{context};
  const auto first = alpha(), second = alpha();
  asks.set_policy(snapshot_of(first));
  EXPECT_EQ(ask(asks, *first, "b.test").state, session::AskTicket::State::open);
  const auto next = snapshot_of(second);
  asks.set_policy(next);
  asks.policy_changed(*next);
  EXPECT_EQ(ask(asks, *second, "c.test").state, session::AskTicket::State::open);
  EXPECT_EQ(ask(asks, *first, "evil.test").state, session::AskTicket::State::none);
  const auto page = asks.page({*first, "POST", "/v1/asks", "", R"({"host":"evil.test"})", "", 0});
  EXPECT_EQ(page.status, 429);
  // The questions of the agent in force are untouched.
  const auto open = asks.open();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].host, "c.test");
}

}  // namespace
}  // namespace stile::commands
