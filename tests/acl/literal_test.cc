// The IP-literal test: every spelling that some resolver or URL parser takes for an address.
#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/socket.h>

#include <random>
#include <string>

#include "acl/host.h"

namespace stile::acl {
namespace {

using namespace std::string_literals;

TEST(IpLiteral, IsReadAsAnAddressOnlyInItsStrictSpelling) {
  const struct {
    std::string raw, address;
  } cases[] = {
      {"127.0.0.1", "127.0.0.1"},       {"0.0.0.0", "0.0.0.0"},
      {"8.8.8.8", "8.8.8.8"},           {"[::1]", "::1"},
      {"[2001:DB8::1]", "2001:db8::1"}, {"[::ffff:1.2.3.4]", "::ffff:1.2.3.4"},
      {"[::1.2.3.4]", "::102:304"},
  };
  for (const auto& c : cases) {
    const HostParse parse = parse_host(c.raw);
    EXPECT_EQ(parse.kind, HostParse::Kind::ip_literal) << c.raw;
    ASSERT_TRUE(parse.address) << c.raw;
    EXPECT_EQ(parse.address->text(), c.address);
    EXPECT_EQ(parse.host.text(), "");
  }
}

TEST(IpLiteral, CoversEverySpellingThatAnyParserTakes) {
  const std::string cases[] = {
      // inet_aton: one to four parts, decimal, octal, hex
      "2130706433",
      "017700000001",
      "0x7f000001",
      "0X7F000001",
      "127.1",
      "127.0.1",
      "0177.0.0.1",
      "0x7f.0.0.1",
      "0x7f.1",
      "127.0x1",
      "127.0.0.01",
      "0127.0.0.1",
      "00000177.1",
      "0",
      "1",
      "00",
      "4294967295",
      "4294967296",
      "99999999999999999999",
      "0xffffffff",
      "0x100000000",
      // URL parsers: the last label decides; "0x" is zero; one trailing dot is dropped
      "0x",
      "0X",
      "1.0x",
      "127.0.0.0x",
      "127.0.0.1.",
      "2130706433.",
      "0x7f.1.",
      "1.2.3",
      "1.2",
      "1.2.3.4.5",
      "256.256.256.256",
      "1.2.3.08",
      "1.2.3.09",
      "example.1",
      "foo.0x4",
      "foo.0XaF",
      "a.b.c.123",
      "-.1",
      "a..1",
      "%31.1",
      "foo bar.1",
      "1.2.3.4\0.5"s,
      // Windows: zeros in front, missing parts
      "0000.0000.0000.0001",
      "010.8.8.8",
      "0.0",
      "00.00.00.00",
      // brackets and colons, well-formed or not
      "[",
      "]",
      "[]",
      "[[::1]]",
      "[::1",
      "::1]",
      "[127.0.0.1]",
      "[::1]x",
      "x[::1]",
      "[v1.x]",
      "[example.com]",
      "::",
      "::1",
      "::ffff:127.0.0.1",
      "fe80::1",
      "fe80::1%eth0",
      "[fe80::1%eth0]",
      "[fe80::1%25eth0]",
      "[::1%0]",
      "[0:0:0:0:0:0:0:1%lo]",
      ":",
      "a:b",
      "example.com:443",
      "[::127.0.0.1",
      "[::ffff:7f00:1]]",
      "[::01.2.3.4]",
      "[ ::1]",
      "[::1 ]",
      "1:2:3:4:5:6:7:8",
  };
  for (const auto& raw : cases) {
    const HostParse parse = parse_host(raw);
    EXPECT_EQ(parse.kind, HostParse::Kind::ip_literal) << raw;
    EXPECT_FALSE(parse.address) << raw;
  }
}

TEST(IpLiteral, InDisguiseIsNeitherNameNorAddress) {
  const std::string cases[] = {
      "\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.\xef\xbc\x91"s,  // fullwidth digits
      "127\xe3\x80\x82"
      "0\xe3\x80\x82"
      "0\xe3\x80\x82"
      "1"s,  // ideographic full stops
      "127\xef\xbc\x8e"
      "0\xef\xbc\x8e"
      "0\xef\xbc\x8e"
      "1"s,                              // fullwidth full stops
      "\xe2\x91\xa0.2.3.\xe2\x91\xa3"s,  // circled digits
      "127.0.0.1\0"s,
      "127.0.0.1\0.example.com"s,
      "127.0.0.1 "s,
      " 2130706433 "s,
      "127.0.0.1%eth0",
      "127.0.0.%31",
      "127.0.0.1/8",
      "127.0.0.1#x",
      "127.0.0.1@example.com",
      "1.2.3.+4",
      "1.2.3.-4",
      "1.2.3.4..",
      "0x7f000001h?",
  };
  for (const auto& raw : cases) EXPECT_NE(parse_host(raw).kind, HostParse::Kind::name) << raw;
}

// The C library of this machine, which also stands for what inet_aton means here.
bool is_numeric_to_libc(const std::string& text) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(text.c_str(), nullptr, &hints, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

TEST(IpLiteral, CoversWhateverGetaddrinfoTakesForNumeric) {
  std::mt19937 random{11};
  const std::string alphabet = "0017.:xXfF89aA[]%- ";
  int numeric = 0;
  for (int round = 0; round < 300000; ++round) {
    std::string raw(1 + random() % 9, ' ');
    for (char& c : raw) c = alphabet[random() % alphabet.size()];
    if (!is_numeric_to_libc(raw)) continue;
    ++numeric;
    ASSERT_EQ(parse_host(raw).kind, HostParse::Kind::ip_literal) << raw;
  }
  EXPECT_GT(numeric, 1000);
}

}  // namespace
}  // namespace stile::acl
