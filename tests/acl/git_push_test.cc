// Git pushes: which refs a pattern covers, and which pushes are refused.
#include "acl/git_push.h"

#include <gtest/gtest.h>

namespace stile::acl {
namespace {

std::vector<RefPattern> patterns(const std::vector<const char*>& texts) {
  std::vector<RefPattern> all;
  for (const auto* text : texts) {
    auto pattern = RefPattern::parse(text);
    EXPECT_TRUE(pattern) << text;
    if (pattern) all.push_back(std::move(*pattern));
  }
  return all;
}

TEST(RefPattern, CoversPartsOfTheNameAndWholeNames) {
  struct Case {
    const char* pattern;
    const char* ref;
    bool matches;
  };
  const Case cases[] = {
      {"refs/heads/agent/*", "refs/heads/agent/fix", true},
      {"refs/heads/agent/*", "refs/heads/agent/fix/deep", false},
      {"refs/heads/agent/**", "refs/heads/agent/fix/deep", true},
      {"refs/heads/agent/*", "refs/heads/agent", false},
      {"refs/heads/agent/*", "refs/heads/agents/x", false},
      {"refs/heads/agent/*", "refs/heads/main", false},
      {"refs/heads/agent/*", "refs/heads/AGENT/x", false},
      {"refs/heads/agent-*", "refs/heads/agent-1", true},
      {"refs/heads/dev", "refs/heads/dev", true},
      {"refs/heads/dev", "refs/heads/develop", false},
      {"refs/heads/agent/*", "refs/heads/agent/../main", false},
      {"refs/heads/agent/*", "refs/heads/agent/x\ny", false},
      {"refs/heads/agent/*", "refs/heads/agent/x.lock", false},
      {"refs/heads/agent/**", "refs/heads/agent//x", false},
      {"refs/heads/*", "HEAD", false},
  };
  for (const auto& [pattern, ref, matches] : cases) {
    EXPECT_EQ(patterns({pattern})[0].matches(ref), matches) << pattern << ' ' << ref;
  }
}

TEST(RefPattern, RefusesWhatIsNoRef) {
  for (const auto* text : {"", "main", "heads/main", "refs", "refs/", "/refs/heads/x", "refs//x",
                           "refs/heads/..", "refs/heads/a b", "refs/heads/a%2fb", "refs/heads/a^",
                           "refs/heads/***", "*", "refs/heads/.x", "refs/heads/x.lock"}) {
    EXPECT_FALSE(RefPattern::parse(text)) << text;
  }
}

TEST(JudgePush, EveryCommandHasToBeCovered) {
  const auto allowed = patterns({"refs/heads/agent/*", "refs/tags/agent-*"});
  EXPECT_EQ(judge_push(allowed, {}), "");
  const std::vector<PushCommand> good{{"refs/heads/agent/a", false}, {"refs/tags/agent-1", false}};
  EXPECT_EQ(judge_push(allowed, good), "");
  const std::vector<PushCommand> mixed{{"refs/heads/agent/a", false}, {"refs/heads/main", false}};
  EXPECT_EQ(judge_push(allowed, mixed), "refs/heads/main is not among the refs that may be pushed");
  const std::vector<PushCommand> gone{{"refs/heads/agent/a", true}};
  EXPECT_EQ(judge_push(allowed, gone), "it would delete refs/heads/agent/a");
  const std::vector<PushCommand> odd{{"refs/heads/agent/\x1b[2J", false}};
  EXPECT_EQ(judge_push(allowed, odd), "the name of a ref is malformed");
}

}  // namespace
}  // namespace stile::acl
