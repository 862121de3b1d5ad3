// Pattern::parse: what each spelling means, and what is said about those that mean nothing.
#include "acl/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace stile::acl {
namespace {

using Kind = Pattern::Kind;
using Reach = Pattern::Reach;

TEST(PatternParse, ReadsEveryForm) {
  const struct {
    std::string_view text;
    Kind kind;
    Reach reach;
    std::uint16_t port;
    std::string_view name, canonical;
  } cases[] = {
      {"example.com", Kind::exact, Reach::bare, 0, "example.com", "example.com"},
      {"EXAMPLE.com.", Kind::exact, Reach::bare, 0, "example.com", "example.com"},
      {"localhost", Kind::exact, Reach::bare, 0, "localhost", "localhost"},
      {"_dmarc.example.com", Kind::exact, Reach::bare, 0, "_dmarc.example.com",
       "_dmarc.example.com"},
      {".example.com", Kind::suffix, Reach::bare, 0, "example.com", ".example.com"},
      {".com", Kind::suffix, Reach::bare, 0, "com", ".com"},
      {"*.example.com", Kind::below, Reach::bare, 0, "example.com", "*.example.com"},
      {"*.Example.com.", Kind::below, Reach::bare, 0, "example.com", "*.example.com"},
      {"*", Kind::any, Reach::bare, 0, "", "*"},
      {"~^api-[0-9]+\\.example\\.com$", Kind::regex, Reach::bare, 0, "^api-[0-9]+\\.example\\.com$",
       "~^api-[0-9]+\\.example\\.com$"},
      {"~(?:a|b)", Kind::regex, Reach::bare, 0, "(?:a|b)", "~(?:a|b)"},
      {"~[[:alpha:]]", Kind::regex, Reach::bare, 0, "[[:alpha:]]", "~[[:alpha:]]"},
      {"~a/b", Kind::regex, Reach::bare, 0, "a/b", "~a/b"},
      {"example.com:8443", Kind::exact, Reach::tunnel, 8443, "example.com", "example.com:8443"},
      {"example.com.:8443", Kind::exact, Reach::tunnel, 8443, "example.com", "example.com:8443"},
      {".example.com:1", Kind::suffix, Reach::tunnel, 1, "example.com", ".example.com:1"},
      {"*.example.com:65535", Kind::below, Reach::tunnel, 65535, "example.com",
       "*.example.com:65535"},
      {"http://example.com", Kind::exact, Reach::http, 80, "example.com", "http://example.com"},
      {"HTTP://Example.com:80", Kind::exact, Reach::http, 80, "example.com", "http://example.com"},
      {"http://.example.com:8080", Kind::suffix, Reach::http, 8080, "example.com",
       "http://.example.com:8080"},
      {"http://*.example.com", Kind::below, Reach::http, 80, "example.com", "http://*.example.com"},
      {"tcp://github.com:22", Kind::exact, Reach::tcp, 22, "github.com", "tcp://github.com:22"},
  };
  for (const auto& c : cases) {
    const auto pattern = Pattern::parse(c.text);
    ASSERT_TRUE(pattern) << c.text << pattern.error().message;
    EXPECT_EQ(pattern->kind, c.kind) << c.text;
    EXPECT_EQ(pattern->reach, c.reach) << c.text;
    EXPECT_EQ(pattern->port, c.port) << c.text;
    EXPECT_EQ(pattern->name, c.name) << c.text;
    EXPECT_EQ(pattern->text(), c.canonical) << c.text;
    const auto again = Pattern::parse(pattern->text());
    ASSERT_TRUE(again) << c.text;
    EXPECT_EQ(again->text(), pattern->text());
  }
}

TEST(PatternParse, SaysWhatIsWrong) {
  using namespace std::string_literals;
  const struct {
    std::string text;
    std::string_view says;
  } cases[] = {
      {"", "empty"},
      {".", "no name"},
      {"*.", "no name"},
      {"..", "no name"},
      {"http://", "no name"},
      {":443", "no name"},
      {"a..b", "label of the name is empty"},
      {"..example.com", "label of the name is empty"},
      {".example.com..", "label of the name is empty"},
      {"-a.com", "begins or ends with '-'"},
      {"a-.com", "begins or ends with '-'"},
      {std::string(64, 'a') + ".com", "longer than 63"},
      {std::string(200, 'a') + '.' + std::string(60, 'b'), "longer than 253"},
      {"exa$mple.com", "'$' is not allowed"},
      {"user@example.com", "'@' is not allowed"},
      {"example.com\\", "'\\' is not allowed"},
      {"exa mple.com", "whitespace"},
      {"example.com ", "whitespace"},
      {"example.com\0"s, "control characters"},
      {"b\xc3\xbc"s + "cher.example", "xn--"},
      {"a.*.com", "'*' must be alone"},
      {"*example.com", "'*' must be alone"},
      {"*.*.com", "'*' must be alone"},
      {"**", "'*' must be alone"},
      {"*:443", "takes no port"},
      {"http://*", "takes no port and no scheme"},
      {"tcp://*:22", "takes no port and no scheme"},
      {"1.2.3.4", "allow_ip"},
      {"1.2.3.4:443", "allow_ip"},
      {".1.2.3.4", "allow_ip"},
      {"10.0.0.0/8", "allow_ip"},
      {"[::1]:443", "allow_ip"},
      {"::1", "allow_ip"},
      {"2130706433", "allow_ip"},
      {"0x7f.1", "allow_ip"},
      {"example.com:0", "1 to 65535"},
      {"example.com:65536", "1 to 65535"},
      {"example.com:", "1 to 65535"},
      {"example.com:http", "1 to 65535"},
      {"example.com:+443", "1 to 65535"},
      {"https://example.com", "write the bare name"},
      {"ftp://example.com", "http:// and tcp://"},
      {"://example.com", "http:// and tcp://"},
      {"http://example.com/", "no path"},
      {"example.com/path", "no path"},
      {"example.com?x=1", "no path"},
      {"tcp://example.com", "needs a port"},
      {"tcp://.example.com:22", "names one host"},
      {"tcp://*.example.com:22", "names one host"},
      {"http://~a", "not with a regex"},
      {"~", "no expression"},
      {"~(", "RE2: missing"},
      {"~a{1001}", "RE2:"},
      {"~(((a{100}){100}){100})", "RE2:"},
      {"~(?<=a)b", "RE2:"},
      {"~(a)\\1", "RE2:"},
      {"~a b", "printable ASCII"},
      {"~b\xc3\xbc", "printable ASCII"},
      {"~^example\\.com$:8443", "carries no port"},
      {"~" + std::string(Pattern::max_regex_length + 1, 'a'), "at most 4096"},
  };
  for (const auto& c : cases) {
    const auto pattern = Pattern::parse(c.text);
    ASSERT_FALSE(pattern) << c.text;
    EXPECT_NE(pattern.error().message.find(c.says), std::string::npos) << pattern.error().message;
  }
}

// RE2 repeats the expression in what it says of it; found by the fuzzer.
TEST(PatternParse, KeepsItsMessagesShort) {
  const auto parsed = Pattern::parse("~(" + std::string(5000, 'v'));
  ASSERT_FALSE(parsed);
  EXPECT_LT(parsed.error().message.size(), 400U);
}

TEST(PatternParse, PutsNoForeignBytesIntoItsMessages) {
  const auto pattern = Pattern::parse("evil\n\x1b[31m\xff");
  ASSERT_FALSE(pattern);
  for (const char c : pattern.error().message) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
  EXPECT_NE(pattern.error().message.find("evil\\x0a\\x1b[31m\\xff"), std::string::npos);
  EXPECT_LT(Pattern::parse(std::string(5000, '/')).error().message.size(), 200U);
}

}  // namespace
}  // namespace stile::acl
