// What must hold for every policy and every request: random ones, the same at each run.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "acl/decide.h"
#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using test::Patterns;

// Few labels, ports and schemes, so that rules and requests meet often.
class Source {
 public:
  explicit Source(unsigned seed) : random_{seed} {}

  std::size_t below(std::size_t limit) { return random_() % limit; }

  template <std::size_t Count>
  const std::string& one_of(const std::string (&choices)[Count]) {
    return choices[below(Count)];
  }

  std::string name() {
    static const std::string labels[] = {"a", "b", "com", "x_y"};
    std::string name = one_of(labels);
    for (std::size_t more = below(3); more > 0; --more) name += '.' + one_of(labels);
    return name;
  }

  std::string pattern() {
    static const std::string regexes[] = {"~a.*", "~.*\\.com", "~(a|b)\\.com", "~.*_.*"};
    if (below(12) == 0) return "*";
    if (below(8) == 0) return one_of(regexes);
    static const std::string fronts[] = {"", "", ".", "*.", "http://", "http://.", "tcp://"};
    static const std::string ports[] = {"", "", "", ":443", ":80", ":22"};
    while (true) {
      std::string text = one_of(fronts) + name() + one_of(ports);
      if (Pattern::parse(text)) return text;
    }
  }

  Patterns patterns(std::size_t most) {
    Patterns list(below(most + 1));
    for (auto& text : list) text = pattern();
    return list;
  }

  AgentPolicy policy(const Patterns& allow, const Patterns& deny) {
    AgentPolicy policy = test::agent(allow, deny);
    if (below(3) == 0) policy.http_ports = {80};
    if (below(3) == 0) policy.ports = {443, 22};
    if (below(3) == 0) policy.grants = {test::grant("g", patterns(2))};
    if (below(4) == 0) policy.allow_ip = {*Address::parse("10.0.0.7")};
    return policy;
  }

  std::string authority() {
    static const std::string ports[] = {":443", ":443", ":80", ":22", "", ":0"};
    static const std::string odd[] = {"10.0.0.7", "127.1", "[::1]", "a..b", "", "A.COM."};
    return (below(10) == 0 ? one_of(odd) : name()) + one_of(ports);
  }

  Query request(const AgentPolicy& policy, const std::string& authority) {
    Query query = test::query(policy, authority, below(3) == 0 ? Scheme::http : Scheme::tunnel);
    query.budget_spent = below(20) == 0;
    return query;
  }

 private:
  std::mt19937 random_;
};

// Calls check(policy, allow, deny, request) for many of them.
template <class Check>
void for_many(unsigned seed, Check&& check) {
  Source source{seed};
  for (int round = 0; round < 400; ++round) {
    const Patterns allow = source.patterns(5), deny = source.patterns(2);
    const AgentPolicy policy = source.policy(allow, deny);
    for (int i = 0; i < 25; ++i) {
      const std::string authority = source.authority();
      check(source, policy, allow, deny, source.request(policy, authority));
    }
  }
}

bool is_allowed(const AgentPolicy& policy, Query request) {
  request.agent = &policy;
  return decide(request).verdict == Verdict::allow;
}

Patterns plus(Patterns list, const std::string& one) {
  list.push_back(one);
  return list;
}

TEST(Properties, DenyBeatsAllow) {
  int denied = 0;
  for_many(1, [&](Source&, const AgentPolicy& policy, const Patterns&, const Patterns&,
                  const Query& request) {
    // Whatever is allowed by this policy is refused once its deny list covers the same.
    if (!is_allowed(policy, request) || decide(request).literal) return;
    AgentPolicy turned = policy;
    turned.deny = policy.allow;
    if (!policy.grants.empty()) {
      turned.deny.sets.push_back(policy.grants[0].rules);
      turned.deny.regexes = *RegexSet::compile(turned.deny.sets);
    }
    EXPECT_FALSE(is_allowed(turned, request)) << request.authority.host;
    ++denied;
  });
  EXPECT_GT(denied, 300);
}

TEST(Properties, AddingAnAllowRuleNeverRefusesMore) {
  int allowed = 0;
  for_many(2, [&](Source& source, const AgentPolicy& policy, const Patterns& allow, const Patterns&,
                  const Query& request) {
    if (!is_allowed(policy, request)) return;
    AgentPolicy wider = policy;
    const std::string added = source.pattern();
    wider.allow = test::rules(plus(allow, added));
    EXPECT_TRUE(is_allowed(wider, request)) << request.authority.host << " + " << added;
    ++allowed;
  });
  EXPECT_GT(allowed, 300);
}

TEST(Properties, AddingADenyRuleNeverAllowsMore) {
  int refused = 0;
  for_many(3, [&](Source& source, const AgentPolicy& policy, const Patterns&, const Patterns& deny,
                  const Query& request) {
    if (is_allowed(policy, request)) return;
    AgentPolicy narrower = policy;
    const std::string added = source.pattern();
    narrower.deny = test::rules(plus(deny, added));
    EXPECT_FALSE(is_allowed(narrower, request)) << request.authority.host << " + " << added;
    ++refused;
  });
  EXPECT_GT(refused, 3000);
}

TEST(Properties, AnEmptyAllowlistAllowsNothing) {
  for_many(4, [&](Source&, const AgentPolicy& policy, const Patterns&, const Patterns&,
                  const Query& request) {
    AgentPolicy empty = policy;
    empty.allow = {};
    empty.grants.clear();
    empty.allow_ip.clear();
    EXPECT_FALSE(is_allowed(empty, request)) << request.authority.host;
  });
}

TEST(Properties, TheTraceEndsWithTheVerdictAndChangesNothing) {
  for_many(5, [&](Source& source, const AgentPolicy& policy, const Patterns&, const Patterns&,
                  Query request) {
    AgentPolicy mixed = policy;
    mixed.mode = static_cast<Mode>(source.below(3));
    if (source.below(20) != 0) request.agent = &mixed;
    if (source.below(30) == 0) request.agent = nullptr;
    Trace trace;
    const Decision traced = decide(request, &trace);
    const Decision plain = decide(request);
    ASSERT_FALSE(trace.empty());
    EXPECT_EQ(trace.back().result, test::outcome(traced));
    EXPECT_EQ(test::outcome(traced), test::outcome(plain));
    EXPECT_EQ(traced.host, plain.host);
    EXPECT_EQ(traced.port, plain.port);
    EXPECT_EQ(traced.literal, plain.literal);
    EXPECT_EQ(traced.check_hello, plain.check_hello);
    EXPECT_EQ(traced.grant, plain.grant);
    EXPECT_EQ(traced.rule.set, plain.rule.set);
    EXPECT_EQ(traced.rule.index, plain.rule.index);
  });
}

TEST(Properties, WhatPassesHasAPlaceToGoAndWhatAllowedIt) {
  for_many(
      6, [&](Source&, const AgentPolicy&, const Patterns&, const Patterns&, const Query& request) {
        const Decision decision = decide(request);
        if (!decision.passes()) {
          EXPECT_EQ(decision.grant, nullptr);
          return;
        }
        EXPECT_NE(decision.port, 0);
        EXPECT_NE(decision.literal.has_value(), !decision.host.text().empty());
        EXPECT_EQ(static_cast<bool>(decision.rule), !decision.literal_allowed);
      });
}

}  // namespace
}  // namespace stile::acl
