// Cache and hosts file: bounds, expiry, and names as they are written.
#include "proxy/dns/cache.h"

#include <gtest/gtest.h>

#include "proxy/dns/hosts_file.h"

namespace stile::dns {
namespace {

using std::chrono::seconds;

ResolvedPtr with_address(const char* text) {
  return std::make_shared<Resolved>(Resolved{{*acl::Address::parse(text)}, {}});
}

TEST(DnsCache, ForgetsWhatHasExpired) {
  Cache cache{10};
  const Cache::Time start{};
  cache.put("a.test", with_address("192.0.2.1"), start + seconds{5});
  EXPECT_NE(cache.find("a.test", start + seconds{4}), nullptr);
  EXPECT_EQ(cache.find("a.test", start + seconds{5}), nullptr);
  EXPECT_EQ(cache.size(), 0U);
}

TEST(DnsCache, DropsTheLeastRecentlyUsedWhenFull) {
  Cache cache{2};
  const Cache::Time start{};
  cache.put("a.test", with_address("192.0.2.1"), start + seconds{5});
  cache.put("b.test", with_address("192.0.2.2"), start + seconds{5});
  EXPECT_NE(cache.find("a.test", start), nullptr);
  cache.put("c.test", with_address("192.0.2.3"), start + seconds{5});
  EXPECT_EQ(cache.find("b.test", start), nullptr);
  EXPECT_NE(cache.find("a.test", start), nullptr);
  EXPECT_EQ(cache.size(), 2U);
}

TEST(DnsCache, ReplacesAnAnswerAndItsTime) {
  Cache cache{2};
  const Cache::Time start{};
  cache.put("a.test", with_address("192.0.2.1"), start + seconds{1});
  cache.put("a.test", with_address("192.0.2.9"), start + seconds{9});
  const auto found = cache.find("a.test", start + seconds{8});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->addresses[0].text(), "192.0.2.9");
}

TEST(DnsCache, KeepsNothingWhenItMayHoldNothing) {
  Cache cache{0};
  cache.put("a.test", with_address("192.0.2.1"), Cache::Time{} + seconds{1});
  EXPECT_EQ(cache.find("a.test", Cache::Time{}), nullptr);
}

TEST(HostsFile, ReadsNamesAliasesCommentsAndBothFamilies) {
  const Hosts hosts = parse_hosts(
      "# a comment\n"
      "127.0.0.1\tlocalhost\r\n"
      "192.0.2.7  Web.Example.TEST alias.test # more\n"
      "2001:db8::7 web.example.test\n"
      "not-an-address x.test\n"
      "192.0.2.8 bad..name 192.0.2.9\n"
      "192.0.2.10 last.test");
  EXPECT_EQ(hosts.size(), 4U);
  ASSERT_EQ(hosts.at("web.example.test").addresses.size(), 2U);
  EXPECT_EQ(hosts.at("web.example.test").addresses[1].text(), "2001:db8::7");
  EXPECT_EQ(hosts.at("alias.test").addresses[0].text(), "192.0.2.7");
  EXPECT_EQ(hosts.at("last.test").addresses[0].text(), "192.0.2.10");
  EXPECT_FALSE(hosts.contains("x.test"));
}

}  // namespace
}  // namespace stile::dns
