// parse_host: which names are taken, and in what form.
#include "acl/host.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace stile::acl {
namespace {

using namespace std::string_literals;

std::string labels(std::size_t count, std::size_t length) {
  std::string name;
  for (std::size_t i = 0; i < count; ++i) name += (i == 0 ? "" : ".") + std::string(length, 'a');
  return name;
}

TEST(HostParse, FoldsCaseAndDropsOneTrailingDot) {
  const struct {
    std::string raw, canonical;
  } cases[] = {
      {"example.com", "example.com"},
      {"EXAMPLE.Com", "example.com"},
      {"example.com.", "example.com"},
      {"a", "a"},
      {"localhost", "localhost"},
      {"xn--bcher-kva.example", "xn--bcher-kva.example"},
      {"a--b.c", "a--b.c"},
      {"1.example", "1.example"},
      {"1.2.3.4.example", "1.2.3.4.example"},
      {"0x7f.example", "0x7f.example"},
      {"example.0xg", "example.0xg"},
      {"example.x0", "example.x0"},
      {"example.1a", "example.1a"},
      {"123.a", "123.a"},
  };
  for (const auto& c : cases) {
    const HostParse parse = parse_host(c.raw);
    EXPECT_EQ(parse.kind, HostParse::Kind::name) << c.raw;
    EXPECT_EQ(parse.host.text(), c.canonical);
    EXPECT_FALSE(parse.host.has_underscore());
    EXPECT_FALSE(parse.address);
  }
}

TEST(HostParse, RefusesWhatIsNotAName) {
  const std::string cases[] = {
      "",
      ".",
      "..",
      "example.com..",
      ".example.com",
      "a..b",
      "-a.com",
      "a-.com",
      "a.-b",
      "a.b-",
      "-",
      "exa mple.com",
      " example.com",
      "example.com ",
      "example.com\t",
      "example.com\r\n",
      "example.com\0"s,
      "allowed.com\0.evil.com"s,
      "\0"s,
      "user@example.com",
      "example.com/path",
      "example.com\\path",
      "example.com?x",
      "example.com#x",
      "exam%70le.com",
      "example%2ecom",
      "%00",
      "example,com",
      "example;com",
      "*.example.com",
      "*",
      "~example",
      "(example)",
      "b\xc3\xbc"s + "cher.example",   // raw UTF-8
      "b\xfc"s + "cher.example",       // Latin-1
      "example\xe3\x80\x82"s + "com",  // U+3002 ideographic full stop
      "example\xef\xbc\x8e"s + "com",  // U+FF0E fullwidth full stop
      "example\xef\xbd\xa1"s + "com",  // U+FF61 halfwidth ideographic full stop
      "example.com\xc2\xad"s,          // soft hyphen
      "example.com\xe2\x80\x8b"s,      // zero width space
      "\xef\xbb\xbf"s + "example.com",
      "example.com\x7f"s,
  };
  for (const auto& raw : cases) {
    const HostParse parse = parse_host(raw);
    EXPECT_EQ(parse.kind, HostParse::Kind::malformed) << raw;
    EXPECT_EQ(parse.host.text(), "");
    EXPECT_FALSE(parse.address);
  }
}

TEST(HostParse, RefusesEveryByteThatIsNotLdhOrUnderscore) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const std::string raw = std::string{"a"} + c + "b.com";
    const bool is_ldh = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    const bool is_literal = c == '[' || c == ']' || c == ':';
    EXPECT_EQ(parse_host(raw).kind, is_literal ? HostParse::Kind::ip_literal
                                    : is_ldh   ? HostParse::Kind::name
                                               : HostParse::Kind::malformed)
        << byte;
  }
}

TEST(HostParse, HoldsTheLimitsOfLabelsAndNames) {
  EXPECT_EQ(parse_host(std::string(63, 'a') + ".com").kind, HostParse::Kind::name);
  EXPECT_EQ(parse_host(std::string(64, 'a') + ".com").kind, HostParse::Kind::malformed);
  EXPECT_EQ(parse_host("com." + std::string(64, 'a')).kind, HostParse::Kind::malformed);
  const std::string longest = labels(3, 63) + '.' + std::string(61, 'b');
  ASSERT_EQ(longest.size(), 253U);
  EXPECT_EQ(parse_host(longest).host.text(), longest);
  EXPECT_EQ(parse_host(longest + '.').host.text(), longest);
  EXPECT_EQ(parse_host(longest + 'b').kind, HostParse::Kind::malformed);
  EXPECT_EQ(parse_host(labels(127, 1)).kind, HostParse::Kind::name);
  EXPECT_EQ(parse_host(labels(128, 1)).kind, HostParse::Kind::malformed);
  EXPECT_EQ(parse_host(std::string(100000, 'a')).kind, HostParse::Kind::malformed);
}

TEST(HostParse, KeepsUnderscoresAndSaysSo) {
  for (const auto raw : {"_dmarc.example.com", "a_b.example", "_", "a.b_"}) {
    const HostParse parse = parse_host(raw);
    EXPECT_EQ(parse.kind, HostParse::Kind::name) << raw;
    EXPECT_TRUE(parse.host.has_underscore()) << raw;
  }
  EXPECT_FALSE(parse_host("a_b..c").host.has_underscore());  // malformed: there is no host
}

TEST(HostParse, IsIdempotentOnItsOwnOutput) {
  std::mt19937 random{7};
  const std::string alphabet = "aZ09-_.x";
  int names = 0;
  for (int round = 0; round < 200000; ++round) {
    std::string raw(random() % 12, ' ');
    for (char& c : raw) c = alphabet[random() % alphabet.size()];
    const HostParse once = parse_host(raw);
    if (once.kind != HostParse::Kind::name) continue;
    const HostParse twice = parse_host(once.host.text());
    ASSERT_EQ(twice.kind, HostParse::Kind::name) << raw;
    ASSERT_EQ(twice.host, once.host) << raw;
    ASSERT_EQ(twice.host.has_underscore(), once.host.has_underscore()) << raw;
    ++names;
  }
  EXPECT_GT(names, 10000);
}

}  // namespace
}  // namespace stile::acl
