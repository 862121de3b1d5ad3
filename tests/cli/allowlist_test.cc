// allowlist: the smallest allowlist for what was seen.
#include "cli/allowlist.h"

#include <gtest/gtest.h>

#include "tests/cli/log_file.h"

namespace stile::cli {
namespace {

using Names = std::vector<std::string>;

Names patterns(const std::vector<SuggestedRule>& rules) {
  Names names;
  for (const auto& rule : rules) names.push_back(rule.pattern);
  return names;
}

AgentAllowlist only_list(const LogFile& log, const AllowlistOptions& options = {}) {
  auto lists = make_allowlists(log.seen(), options);
  EXPECT_EQ(lists.size(), 1u);
  return lists.empty() ? AgentAllowlist{} : lists.front();
}

TEST(Allowlist, WritesThePatternThatTheRequestNeeds) {
  struct Case {
    const char* host;
    int port;
    const char* scheme;
    const char* pattern;
  };
  for (const auto& [host, port, scheme, pattern] : {
           Case{"a.example", 443, "connect", "a.example"},
           Case{"a.example", 8443, "connect", "a.example:8443"},
           Case{"a.example", 80, "http", "http://a.example"},
           Case{"a.example", 8080, "http", "http://a.example:8080"},
       }) {
    LogFile log;
    log.request("alpha", host, port, "would-deny", "host-not-allowed", scheme);
    EXPECT_EQ(patterns(only_list(log).allow), Names{pattern});
  }
}

TEST(Allowlist, LeavesOutPortsThatTheConfigAllowsAnyway) {
  LogFile log;
  log.request("alpha", "a.example", 8443, "would-deny", "host-not-allowed");
  log.request("alpha", "b.example", 80, "would-deny", "host-not-allowed", "http");
  AllowlistOptions options;
  options.ports_of = [](const std::string&) { return KnownPorts{{443, 8443}, {80}}; };
  EXPECT_EQ(patterns(only_list(log, options).allow), (Names{"a.example", "b.example"}));
}

TEST(Allowlist, CountsWhatWasLetThroughAndWhatWasRefused) {
  LogFile log;
  log.request("alpha", "a.example", 443, "allow");
  log.request("alpha", "a.example", 443, "would-deny", "host-not-allowed");
  log.request("alpha", "a.example", 443, "deny", "host-not-allowed");
  const auto list = only_list(log);
  ASSERT_EQ(list.allow.size(), 1u);
  EXPECT_EQ(list.allow[0].let_through, 2u);
  EXPECT_EQ(list.allow[0].refused, 1u);
}

TEST(Allowlist, LeavesOutRefusalsOnRequest) {
  LogFile log;
  log.request("alpha", "good.example", 443, "allow");
  log.request("alpha", "bad.example", 443, "deny", "host-not-allowed");
  AllowlistOptions options;
  EXPECT_EQ(patterns(only_list(log, options).allow), (Names{"bad.example", "good.example"}));
  options.with_denied = false;
  EXPECT_EQ(patterns(only_list(log, options).allow), Names{"good.example"});
}

TEST(Allowlist, KeepsAgentsApart) {
  LogFile log;
  log.request("alpha", "a.example", 443, "allow");
  log.request("beta", "b.example", 443, "allow");
  log.request("", "c.example", 443, "deny", "unknown-agent");
  const auto lists = make_allowlists(log.seen(), {});
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(lists[0].agent, "alpha");
  EXPECT_EQ(patterns(lists[0].allow), Names{"a.example"});
  EXPECT_EQ(patterns(lists[1].allow), Names{"b.example"});
  AllowlistOptions options;
  options.agent = "beta";
  EXPECT_EQ(only_list(log, options).agent, "beta");
}

// What no allow rule can or should answer is a remark.
TEST(Allowlist, SuggestsNothingForRefusalsOfAnotherKind) {
  struct Case {
    const char* verdict;
    const char* reason;
    bool has_remark;
  };
  for (const auto& [verdict, reason, has_remark] : {
           Case{"deny", "host-denied", true},
           Case{"would-deny", "host-denied", true},
           Case{"deny", "sni-mismatch", true},
           Case{"would-deny", "sni-mismatch", true},
           Case{"deny", "address-forbidden", true},
           Case{"deny", "dns-failure", true},
           Case{"deny", "offline", false},
           Case{"deny", "rate-limited", false},
       }) {
    LogFile log;
    log.request("alpha", "a.example", 443, verdict, reason);
    const auto list = only_list(log);
    EXPECT_TRUE(list.allow.empty()) << verdict << ' ' << reason;
    EXPECT_EQ(list.remarks.size(), has_remark ? 1u : 0u) << verdict << ' ' << reason;
  }
}

TEST(Allowlist, WarnsOfALookAlikeAndDoesNotSuggestItIfItWasRefused) {
  LogFile log;
  log.request("alpha", "known.example", 443, "allow");
  log.request("alpha", "knwon.example", 443, "deny", "host-not-allowed");
  log.request("alpha", "kn0wn.example", 443, "would-deny", "host-not-allowed");
  log.request("alpha", "fresh.example", 443, "deny", "host-not-allowed");
  log.request("beta", "knwon.example", 443, "deny", "host-not-allowed");
  const auto lists = make_allowlists(log.seen(), {});
  ASSERT_EQ(lists.size(), 2u);
  const auto& alpha = lists[0];
  EXPECT_EQ(patterns(alpha.allow), (Names{"fresh.example", "kn0wn.example", "known.example"}));
  EXPECT_EQ(alpha.allow[1].looks_like, "known.example");  // mode observe let it through
  EXPECT_EQ(alpha.allow[0].looks_like + alpha.allow[2].looks_like, "");
  ASSERT_EQ(alpha.remarks.size(), 1u);
  EXPECT_EQ(alpha.remarks[0],
            "WARNING: knwon.example:443, 1 time: it looks like known.example, which is allowed: a "
            "typing error, or an imitation");
  EXPECT_EQ(patterns(lists[1].allow), Names{"knwon.example"});  // beta has no such name
}

TEST(Allowlist, WarnsOfALookAlikeOfWhatTheConfigAllows) {
  LogFile log;
  log.request("alpha", "knwon.example", 443, "deny", "host-not-allowed");
  acl::LookAlikes configured;
  configured.add("known.example");
  AllowlistOptions options;
  options.look_alikes_of = [&](const std::string&) { return &configured; };
  const auto list = only_list(log, options);
  EXPECT_TRUE(list.allow.empty());
  ASSERT_EQ(list.remarks.size(), 1u);
  EXPECT_NE(list.remarks[0].find("looks like known.example"), std::string::npos);
}

TEST(Allowlist, GivesUpTheCheckOfTlsOnlyWhereNothingSpokeIt) {
  LogFile log;
  log.request("alpha", "git.example", 22, "would-deny", "not-tls");
  EXPECT_EQ(patterns(only_list(log).allow), Names{"tcp://git.example:22"});
  log.request("alpha", "git.example", 22, "allow");
  EXPECT_EQ(patterns(only_list(log).allow), Names{"git.example:22"});
}

TEST(Allowlist, TakesARefusedTunnelByItsPort) {
  LogFile log;
  log.request("alpha", "a.example", 22, "deny", "port-not-allowed");
  log.request("alpha", "b.example", 8443, "deny", "port-not-allowed");
  EXPECT_EQ(patterns(only_list(log).allow), (Names{"b.example:8443", "tcp://a.example:22"}));
}

TEST(Allowlist, PutsAddressesIntoAllowIp) {
  LogFile log;
  log.request("alpha", "192.0.2.7", 443, "would-deny", "ip-literal");
  log.request("alpha", "0x7f.1", 443, "deny", "ip-literal");
  const auto list = only_list(log);
  EXPECT_TRUE(list.allow.empty());
  EXPECT_EQ(patterns(list.allow_ip), Names{"192.0.2.7"});
  EXPECT_EQ(list.remarks.size(), 1u);
}

TEST(Allowlist, NeverSuggestsWhatIsNoHostName) {
  LogFile log;
  log.request("alpha", "a\\u001b[2J.example", 443, "deny", "host-not-allowed");
  log.request("alpha", "x\\\"]\\u000aevil = true", 443, "would-deny", "host-not-allowed");
  const auto list = only_list(log);
  EXPECT_TRUE(list.allow.empty());
  EXPECT_TRUE(list.allow_ip.empty());
}

TEST(Allowlist, SaysWhereASuffixWouldCoverSeveralHosts) {
  LogFile log;
  for (const char* host : {"a.example.com", "b.example.com", "c.example.org"}) {
    log.request("alpha", host, 443, "allow");
  }
  AllowlistOptions options;
  auto list = only_list(log, options);
  EXPECT_EQ(list.allow.size(), 3u);
  ASSERT_EQ(list.suffixes.size(), 1u);
  EXPECT_EQ(list.suffixes[0].pattern, ".example.com");

  options.use_suffixes = true;
  list = only_list(log, options);
  EXPECT_EQ(patterns(list.allow), (Names{".example.com", "c.example.org"}));
  EXPECT_EQ(list.allow[0].let_through, 2u);
}

}  // namespace
}  // namespace stile::cli
