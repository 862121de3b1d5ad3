// The values of acls: addresses, names, expressions, with squid's rules about overlaps.
#include <gtest/gtest.h>

#include "acl/regex_set.h"
#include "squid/address_values.h"
#include "squid/domain_values.h"
#include "squid/posix_regex.h"

namespace stile::squid {
namespace {

std::string covered(std::initializer_list<const char*> values) {
  AddressValues set;
  for (const char* value : values) {
    const auto added = set.add(value);
    if (!added) return "error";
  }
  std::string text;
  for (const auto& [first, last] : set.stretches()) {
    text += (text.empty() ? "" : " ") + first.text() + "-" + last.text();
  }
  return text;
}

TEST(SquidAddresses, ReadsEveryForm) {
  EXPECT_EQ(covered({"10.0.0.1"}), "10.0.0.1-10.0.0.1");
  EXPECT_EQ(covered({"10.0.0.0/8"}), "10.0.0.0-10.255.255.255");
  EXPECT_EQ(covered({"10.1.2.3/255.255.0.0"}), "10.1.0.0-10.1.255.255");
  EXPECT_EQ(covered({"10.0.0.5/24"}), "10.0.0.0-10.0.0.255");
  EXPECT_EQ(covered({"0.0.0.1-0.255.255.255"}), "0.0.0.1-0.255.255.255");
  EXPECT_EQ(covered({"fe80::/10"}), "fe80::-febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
  EXPECT_EQ(covered({"ipv4"}), "0.0.0.0-255.255.255.255");
  EXPECT_EQ(covered({"all"}), "0.0.0.0-255.255.255.255 ::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

TEST(SquidAddresses, RefusesWhatItDoesNotUnderstand) {
  for (const char* value :
       {"", "10", "1.2.3", "host.example", "10.0.0.0/33", "10.0.0.0/255.0.255.0", "10.0.0.0/", "/8",
        "10.0.0.9-10.0.0.1", "10.0.0.1-::1", "10.0.0.1-10.0.0.9/24", "::/1", "ipv6", "ALL"}) {
    EXPECT_EQ(covered({value}), "error") << value;
  }
}

TEST(SquidAddresses, KeepsTheFirstOfTwoThatOverlap) {
  EXPECT_EQ(covered({"10.0.0.0/8", "10.1.0.0/16"}), "10.0.0.0-10.255.255.255");
  EXPECT_EQ(covered({"10.1.0.0/16", "10.0.0.0/8"}), "10.1.0.0-10.1.255.255");
  EXPECT_EQ(covered({"10.0.0.1", "all"}), "10.0.0.1-10.0.0.1");
  EXPECT_EQ(covered({"fe80::1", "all"}), "fe80::1-fe80::1");
  EXPECT_EQ(covered({"10.0.0.1-10.0.0.5", "10.0.0.5-10.0.0.9"}), "10.0.0.1-10.0.0.5");
}

TEST(SquidAddresses, FindsAnOverlapAmongMany) {
  AddressValues set;
  const auto add = [&](const std::string& value) {
    const auto added = set.add(value);
    return added ? added->text.find("overlaps") != std::string::npos ? "overlaps" : "taken"
                 : "error";
  };
  // Every second address of a network, from both ends, so that none is added in order.
  for (int i = 0; i < 20'000; i += 2) {
    const int at = i % 4 == 0 ? i : 39'998 - i;
    const std::string low = std::to_string(at / 256) + "." + std::to_string(at % 256);
    ASSERT_STREQ(add("10.1." + low), "taken");
    ASSERT_STREQ(add("2001:db8::" + std::to_string(i / 2)), "taken");
  }
  const std::size_t kept = set.stretches().size();
  EXPECT_EQ(kept, 20'000U);
  EXPECT_STREQ(add("10.1.0.0"), "taken");  // there already
  EXPECT_STREQ(add("10.1.0.0-10.1.0.1"), "overlaps");
  EXPECT_STREQ(add("10.0.0.0/8"), "overlaps");
  EXPECT_STREQ(add("10.0.255.255-10.1.0.0"), "overlaps");
  EXPECT_STREQ(add("10.1.156.60-10.2.0.0"), "overlaps");
  EXPECT_STREQ(add("ipv4"), "overlaps");
  EXPECT_STREQ(add("all"), "overlaps");
  EXPECT_EQ(set.stretches().size(), kept);
  EXPECT_STREQ(add("10.1.0.1"), "taken");
  EXPECT_STREQ(add("10.2.0.0/16"), "taken");
  EXPECT_STREQ(add("2001:db9::/32"), "taken");
  EXPECT_EQ(set.stretches().size(), kept + 3);
}

TEST(SquidDomains, RefusesWhatSquidRefuses) {
  struct Row {
    std::vector<std::string> values;
    std::string last;  // what the last one comes to
  };
  const Row rows[] = {
      {{".example.com"}, "taken"},
      {{".example.com", "www.example.com"}, "remark"},
      {{".example.com", ".www.example.com"}, "remark"},
      {{".example.com", ".example.com"}, "remark"},
      {{"example.com", "example.com"}, "taken"},
      {{"www.example.com", ".example.com"}, "error"},
      {{".www.example.com", ".example.com"}, "error"},
      {{"example.com", ".example.com"}, "error"},
      {{".example.com", "example.com"}, "error"},
      {{"notexample.com", ".example.com"}, "taken"},
      {{"example.com."}, "error"},  // squid never matches it: ours must not either
      {{"*.example.com"}, "error"},
      {{"http://example.com"}, "error"},
      {{"example.com:443"}, "error"},
      {{"~x"}, "error"},
      {{"."}, "error"},
      {{"..example.com"}, "error"},
      {{"my_host.example.com"}, "taken"},
      {{"192.0.2.1"}, "taken"},
      {{"[::1]"}, "taken"},
      {{"192.0.2"}, "error"},
  };
  for (const auto& [values, last] : rows) {
    DomainValues set{"squid.conf"};
    std::string came_to;
    for (const auto& value : values) {
      const auto added = set.add(value, 1);
      came_to = !added ? "error" : added->text.empty() ? "taken" : "remark";
    }
    EXPECT_EQ(came_to, last) << values.front() << " … " << values.back();
  }
}

bool matches(std::string_view expression, bool ignore_case, std::string_view name) {
  const auto pattern = translate_regex(expression, ignore_case);
  if (!pattern) return false;
  acl::RuleSet::Builder set{"squid.conf"};
  set.add(*pattern, 1);
  return !(*acl::RegexSet::compile({std::move(set).build()}))->match(name).rules.empty();
}

TEST(SquidRegex, FindsTheExpressionAnywhereInTheName) {
  EXPECT_TRUE(matches("api", false, "my-api.test"));
  EXPECT_TRUE(matches("^my", false, "my-api.test"));
  EXPECT_FALSE(matches("^api", false, "my-api.test"));
  EXPECT_TRUE(matches("\\.test$", false, "my-api.test"));
  EXPECT_FALSE(matches("API", false, "my-api.test"));
  EXPECT_TRUE(matches("API", true, "my-api.test"));
  EXPECT_TRUE(matches("a|b", false, "xbx"));
  EXPECT_TRUE(matches("^(a|b)[[:digit:]]{2,3}\\.[^.]+$", false, "b123.test"));
  EXPECT_TRUE(matches("[\\.]x", false, "a.x"));
  EXPECT_TRUE(matches("[]a]b", false, "ab"));
  EXPECT_TRUE(matches("^[a-z0-9.-]+$", false, "my-api.test"));
  EXPECT_TRUE(matches("^[-a-c[:digit:]]+$", false, "a-1"));
}

TEST(SquidRegex, RefusesWhatTheTwoLanguagesReadDifferently) {
  for (const char* expression :
       {"\\d",   "\\w+",  "\\<api", "\\bapi", "(a)\\1",     "[\\d]",     "[a\\-z]",
        "[\\]]", "(?i)a", "a+?",    "a**",    "*a",         "a|*b",      "^*",
        "(*a)",  "a{,3}", "a{x}",   "a{",     "a{1",        "[[.a.]]",   "[[=a=]]",
        "[a",    "a)|(b", "a\\",    "(",      "a{1000000}", "[[:nope:]]"}) {
    EXPECT_FALSE(translate_regex(expression, false)) << expression;
  }
  EXPECT_FALSE(translate_regex(std::string(5000, 'a'), false));
}

// squid passes over these and says so: an allow rule with one lets nothing through.
TEST(SquidRegex, RefusesRangesThatSquidPassesOverOrReadsDifferently) {
  for (const char* expression : {"[a-z0-9-.]", "[a-z0-9-\\.]", "[a-c-e]", "[]-a]", "[[:digit:]-a]",
                                 "[+-\\.]", "[--a]", "[A-z]", "[z-a]", "[.-z]"}) {
    EXPECT_FALSE(translate_regex(expression, false)) << expression;
  }
}

}  // namespace
}  // namespace stile::squid
