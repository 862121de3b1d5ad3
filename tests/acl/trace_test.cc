// The trace behind `explain`: every step that was asked, and the verdict last.
#include <gtest/gtest.h>

#include "acl/decide.h"
#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using test::agent;
using test::query;

Trace trace_of(const Query& request) {
  Trace trace;
  static_cast<void>(decide(request, &trace));
  return trace;
}

TEST(Trace, NamesEveryStepOfAnAllowedRequest) {
  const AgentPolicy policy = agent({"a.com", "a.com:8443"});
  const Trace trace = trace_of(query(policy, "A.com:8443"));
  const struct {
    int number;
    std::string_view step, result, detail;
  } expected[] = {
      {1, "agent", "pass", "alpha"},
      {2, "mode", "pass", "enforce"},
      {3, "ip-literal", "pass", "'A.com' is not an address"},
      {4, "host-syntax", "pass", "a.com port 8443"},
      {5, "port", "pass", "8443 is carried by a.com:8443 (allow.txt:2)"},
      {6, "host", "pass", "allowed by a.com:8443 (allow.txt:2)"},
      {7, "usage", "pass", "within its budgets of bytes"},
      {7, "verdict", "allow", "The request is allowed."},
  };
  ASSERT_EQ(trace.size(), std::size(expected));
  for (std::size_t i = 0; i < trace.size(); ++i) {
    EXPECT_EQ(trace[i].number, expected[i].number);
    EXPECT_EQ(trace[i].step, expected[i].step);
    EXPECT_EQ(trace[i].result, expected[i].result);
    EXPECT_EQ(trace[i].detail, expected[i].detail);
  }
}

TEST(Trace, EndsWithTheStepThatRefusedAndTheVerdict) {
  AgentPolicy policy = agent({"allowed.com"}, {"denied.com"});
  policy.expires = 5000000;
  policy.grants = {test::grant("g1", {"granted.com"})};
  const struct {
    std::string_view authority;
    int number;
    std::string_view result, detail;
  } cases[] = {
      {"1.2.3.4:443", 3, "ip-literal", "'1.2.3.4' is an address"},
      {"a b:443", 4, "bad-request", "letters, digits and hyphens"},
      {"a.com", 4, "bad-request", "no port"},
      {"a_b.com:443", 4, "bad-request", "underscore"},
      {"a.com:22", 5, "port-not-allowed", "22 is not in ports"},
      {"denied.com:443", 6, "host-denied", "denied by denied.com (deny.txt:1)"},
      {"a.com:443", 6, "host-not-allowed", "no allow rule covers it"},
  };
  for (const auto& c : cases) {
    const Trace trace = trace_of(query(policy, c.authority));
    ASSERT_GE(trace.size(), 2U);
    const TraceStep& refusing = trace[trace.size() - 2];
    EXPECT_EQ(refusing.number, c.number) << c.authority;
    EXPECT_EQ(refusing.result, c.result);
    EXPECT_NE(refusing.detail.find(c.detail), std::string::npos) << refusing.detail;
    EXPECT_EQ(trace.back().result, "deny " + std::string{c.result});
    EXPECT_EQ(trace.back().step, "verdict");
  }
  Query late = query(policy, "allowed.com:443");
  late.now = 8000000;
  EXPECT_EQ(trace_of(late)[0].detail, "alpha expired 3 s ago");
  EXPECT_EQ(trace_of(query(policy, "granted.com:443"))[5].detail,
            "allowed by granted.com (grant g1:1)");
}

TEST(Trace, GoesOnInObserveModeAndSaysWhatWouldHaveBeen) {
  AgentPolicy policy = agent({});
  policy.mode = Mode::observe;
  const Trace trace = trace_of(query(policy, "a.com:22"));
  EXPECT_EQ(trace[4].result, "port-not-allowed");
  EXPECT_EQ(trace[5].step, "usage");
  EXPECT_EQ(trace.back().result, "would-deny port-not-allowed");
}

TEST(Trace, ShowsForeignBytesEscapedAndCut) {
  const AgentPolicy policy = agent({});
  const std::string hostile = "a\n\x1b]0;" + std::string(5000, 'x') + ".1:443";
  for (const TraceStep& step : trace_of(query(policy, hostile))) {
    EXPECT_LT(step.detail.size(), 200U);
    for (const char c : step.detail) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
  }
}

TEST(Trace, NamesTheNearestAllowedNameForASlip) {
  const AgentPolicy policy =
      agent({"api.github.com", ".anthropic.com", "~x.*", "*.pip.test", "ab.io"});
  const struct {
    std::string_view host, nearest;
  } cases[] = {
      {"api.gihtub.com", "api.github.com"},   // swapped
      {"api.githb.com", "api.github.com"},    // left out
      {"api.githubb.com", "api.github.com"},  // doubled
      {"api.gitbub.com", "api.github.com"},   // beside
      {"abi.githib.com", "api.github.com"},   // two slips
      {"antropic.com", ".anthropic.com"},    {"pip.test", "*.pip.test"}, {"ac.io", "ab.io"},
  };
  for (const auto& c : cases) {
    const Trace trace = trace_of(query(policy, std::string{c.host} + ":443"));
    const std::string& detail = trace[trace.size() - 2].detail;
    EXPECT_NE(detail.find("; the nearest is " + std::string{c.nearest} + " (allow.txt:"),
              std::string::npos)
        << c.host << ": " << detail;
  }
  for (const auto host : {"example.com", "cd.io", "github.com", "a.io.example"}) {
    const Trace trace = trace_of(query(policy, std::string{host} + ":443"));
    EXPECT_EQ(trace[trace.size() - 2].detail, "no allow rule covers it") << host;
  }
}

TEST(Trace, LooksForSlipsOnlySoFar) {
  test::Patterns many;
  for (int i = 0; i < 20000; ++i) many.push_back("host" + std::to_string(i) + ".example.com");
  many.push_back("behind-the-limit.org");
  const AgentPolicy policy = agent(many);
  const Trace trace = trace_of(query(policy, "behind-the-limt.org:443"));
  EXPECT_EQ(trace[trace.size() - 2].detail, "no allow rule covers it");
}

}  // namespace
}  // namespace stile::acl
