// Formats of squid, compiled: widths, codes, and that nothing an agent sends breaks a line.
#include "audit/log_format.h"

#include <gtest/gtest.h>

#include "audit/squid_line.h"
#include "tests/audit/world.h"

namespace stile::audit {
namespace {

std::string line_of(std::string_view format, const Record& record) {
  const auto compiled = LogFormat::compile(format);
  if (!compiled) return compiled.error().message;
  std::string text;
  compiled->append(text, record);
  return text;
}

TEST(LogFormat, WritesTheNativeLineFromItsDefinition) {
  constexpr std::string_view native = "%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/%<a %mt";
  for (const Record& record : {close_record(1), deny_record("evil.example")}) {
    std::string expected;
    append_squid(expected, record);
    EXPECT_EQ(line_of(native, record), expected);
  }
}

TEST(LogFormat, ReadsWidthsArgumentsAndNames) {
  Record record = close_record(1);
  record.origin = "140.82.121.6:443";
  EXPECT_EQ(line_of("[%-8rm|%8rm|%08>Hs]", record), "[CONNECT | CONNECT|00000200]\n");
  EXPECT_EQ(line_of("%http::rm %>rd %>rP %<p", record), "CONNECT api.github.com 443 443\n");
  EXPECT_EQ(line_of("%{%Y}tg %tg{%Y} 100%%", record), "2026 2026 100%\n");
  EXPECT_EQ(line_of("\"%{User-Agent}>h\" %ul", record), "\"-\" -\n");
}

// Found by the fuzzer: strftime has a code for a newline.
TEST(LogFormat, IsOneLineWhateverTheTimeIsWrittenLike) {
  EXPECT_EQ(line_of("%{%Y%n%t%d}tg", close_record(1)).find('\n'), std::string{"2026  16"}.size());
}

TEST(LogFormat, RefusesCodesThatItDoesNotKnow) {
  for (const char* format : {"%zz", "%", "%5", "%{x}", "%>"}) {
    EXPECT_FALSE(LogFormat::compile(format)) << format;
  }
  EXPECT_TRUE(LogFormat::compile(""));
  EXPECT_TRUE(
      LogFormat::compile("%{x"
                         "}>h %999999999rm"));
}

TEST(LogFormat, LetsNothingThatAnAgentSendsEndAWord) {
  Record record = deny_record("evil\" \n\r%0a.example");
  record.method = "GET \"x";
  record.path = "/a b\n";
  for (const char* format : {"%ru %rm %>rd %>rp", "%'ru %\"rm %#>rd %/>rp"}) {
    const std::string line = line_of(format, record);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
    EXPECT_EQ(std::count(line.begin(), line.end(), ' '), 3);
    EXPECT_EQ(line.find('"'), std::string::npos);
  }
}

TEST(LogFormat, CompilesThoseOfSquid) {
  EXPECT_TRUE(LogFormat::compile(LogFormat::common));
  EXPECT_TRUE(LogFormat::compile(LogFormat::combined));
}

}  // namespace
}  // namespace stile::audit
