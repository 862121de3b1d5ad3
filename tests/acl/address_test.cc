// Address and Prefix: which spellings are read, and how they are written.
#include "acl/address.h"

#include <gtest/gtest.h>

namespace stile::acl {
namespace {

TEST(AddressParse, TakesStrictSpellingsAndWritesThemCanonically) {
  const struct {
    std::string_view text, canonical;
  } cases[] = {
      {"0.0.0.0", "0.0.0.0"},
      {"127.0.0.1", "127.0.0.1"},
      {"255.255.255.255", "255.255.255.255"},
      {"::", "::"},
      {"::1", "::1"},
      {"1::", "1::"},
      {"2001:db8::1", "2001:db8::1"},
      {"2001:DB8::A", "2001:db8::a"},
      {"2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"},
      {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
      {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
      {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
      {"1:0:0:2:0:0:0:3", "1:0:0:2::3"},
      {"1:0:0:2:3:0:0:4", "1::2:3:0:0:4"},
      {"::ffff:1.2.3.4", "::ffff:1.2.3.4"},
      {"::ffff:102:304", "::ffff:1.2.3.4"},
      {"::1.2.3.4", "::102:304"},
      {"64:ff9b::1.2.3.4", "64:ff9b::102:304"},
      {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
  };
  for (const auto& c : cases) {
    const auto address = Address::parse(c.text);
    ASSERT_TRUE(address) << c.text;
    EXPECT_EQ(address->text(), c.canonical) << c.text;
    EXPECT_EQ(Address::parse(address->text()), address) << c.text;
  }
}

TEST(AddressParse, RefusesEveryOtherSpelling) {
  using namespace std::string_view_literals;
  const std::string_view cases[] = {
      "",
      "1",
      "1.2.3",
      "1.2.3.4.5",
      "1.2.3.",
      ".1.2.3",
      "1..2.3",
      "1.2.3.4.",
      "01.2.3.4",
      "1.2.3.04",
      "00.0.0.0",
      "256.0.0.1",
      "1.2.3.999",
      "1.2.3.1000",
      "0x7f.0.0.1",
      "2130706433",
      "1.2.3.4 ",
      " 1.2.3.4",
      "+1.2.3.4",
      "1.2.3.-4",
      "1.2.3.4\0"sv,
      "1.2.3.a",
      ":",
      ":::",
      "::1::",
      "1::2::3",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "1:2:3:4::5:6:7:8",
      "1:2:3:4:5:6:7:8::",
      "::1:2:3:4:5:6:7:8",
      ":1:2:3:4:5:6:7:8",
      "1:2:3:4:5:6:7:",
      "12345::",
      "g::",
      "::1%eth0",
      "fe80::1%1",
      "[::1]",
      "::1.2.3",
      "::1.2.3.04",
      "::1.2.3.4:5",
      "1.2.3.4::",
      "1:2:3:4:5:6:7:1.2.3.4",
      "::ffff:256.1.1.1",
  };
  for (const auto text : cases) EXPECT_FALSE(Address::parse(text)) << text;
}

TEST(Address, UnmapsOnlyMappedAddresses) {
  EXPECT_EQ(Address::parse("::ffff:10.0.0.1")->unmapped().text(), "10.0.0.1");
  EXPECT_EQ(Address::parse("::10.0.0.1")->unmapped().text(), "::a00:1");
  EXPECT_EQ(Address::parse("1::ffff:10.0.0.1")->unmapped().text(), "1::ffff:a00:1");
  EXPECT_EQ(Address::parse("10.0.0.1")->unmapped().text(), "10.0.0.1");
}

TEST(Address, IsNotEqualToTheMappedFormOfItself) {
  EXPECT_NE(*Address::parse("1.2.3.4"), *Address::parse("::ffff:1.2.3.4"));
  EXPECT_NE(*Address::parse("0.0.0.1"), *Address::parse("::1"));
}

TEST(Address, HasNeighboursExceptAtTheEndsOfItsFamily) {
  EXPECT_EQ(Address::parse("1.2.3.255")->next()->text(), "1.2.4.0");
  EXPECT_EQ(Address::parse("1.2.4.0")->previous()->text(), "1.2.3.255");
  EXPECT_EQ(Address::parse("1::ffff:ffff:ffff:ffff")->next()->text(), "1:0:0:1::");
  EXPECT_EQ(Address::parse("1:0:0:1::")->previous()->text(), "1::ffff:ffff:ffff:ffff");
  EXPECT_FALSE(Address::parse("255.255.255.255")->next());
  EXPECT_FALSE(Address::parse("0.0.0.0")->previous());
  EXPECT_FALSE(Address::parse("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")->next());
  EXPECT_FALSE(Address::parse("::")->previous());
}

TEST(Address, KeepsItsBytes) {
  const auto address = Address::parse("102:304:506:708:90a:b0c:d0e:f10");
  ASSERT_TRUE(address);
  for (std::uint8_t i = 0; i < 16; ++i) EXPECT_EQ(address->v6_bytes()[i], i + 1);
  EXPECT_EQ(Address::v6(address->v6_bytes()), *address);
}

TEST(PrefixParse, TakesPrefixesAndSingleAddresses) {
  const struct {
    std::string_view text, canonical, last;
  } cases[] = {
      {"10.0.0.0/8", "10.0.0.0/8", "10.255.255.255"},
      {"0.0.0.0/0", "0.0.0.0/0", "255.255.255.255"},
      {"10.200.0.2", "10.200.0.2/32", "10.200.0.2"},
      {"10.200.0.2/32", "10.200.0.2/32", "10.200.0.2"},
      {"::/0", "::/0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
      {"fd00::/8", "fd00::/8", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
      {"2001:db8::/64", "2001:db8::/64", "2001:db8::ffff:ffff:ffff:ffff"},
      {"2001:db8::/65", "2001:db8::/65", "2001:db8::7fff:ffff:ffff:ffff"},
      {"::1", "::1/128", "::1"},
  };
  for (const auto& c : cases) {
    const auto prefix = Prefix::parse(c.text);
    ASSERT_TRUE(prefix) << c.text;
    EXPECT_EQ(prefix->text(), c.canonical);
    EXPECT_EQ(prefix->last().text(), c.last);
    EXPECT_TRUE(prefix->contains(prefix->first()));
    EXPECT_TRUE(prefix->contains(prefix->last()));
    for (const auto& outside : {prefix->first().previous(), prefix->last().next()}) {
      EXPECT_FALSE(outside && prefix->contains(*outside)) << c.text;
    }
  }
}

TEST(PrefixParse, RefusesWhatSaysTwoThingsOrNothing) {
  const struct {
    std::string_view text, says;
  } cases[] = {
      {"10.0.0.1/8", "did you mean 10.0.0.0/8 or 10.0.0.1?"},
      {"fd00::1/8", "did you mean fd00::/8"},
      {"10.0.0.0/33", "0 to 32"},
      {"10.0.0.0/08", "0 to 32"},
      {"10.0.0.0/", "0 to 32"},
      {"10.0.0.0/8/8", "0 to 32"},
      {"10.0.0.0/-1", "0 to 32"},
      {"::/129", "0 to 128"},
      {"10.0.0/8", "not an address"},
      {"", "not an address"},
      {"example.com", "not an address"},
  };
  for (const auto& c : cases) {
    const auto prefix = Prefix::parse(c.text);
    ASSERT_FALSE(prefix) << c.text;
    EXPECT_NE(prefix.error().message.find(c.says), std::string::npos) << prefix.error().message;
  }
}

TEST(Prefix, HoldsNothingOfTheOtherFamily) {
  EXPECT_FALSE(Prefix::parse("0.0.0.0/0")->contains(*Address::parse("::1")));
  EXPECT_FALSE(Prefix::parse("::/0")->contains(*Address::parse("1.2.3.4")));
}

}  // namespace
}  // namespace stile::acl
