// The exact bytes of squid's native lines.
#include "audit/squid_line.h"

#include <gtest/gtest.h>

#include "tests/audit/world.h"

namespace stile::audit {
namespace {

std::string squid_line_of(const Record& record) {
  std::string text;
  append_squid(text, record);
  return text;
}

Record http_close(std::string_view path) {
  Record record = close_record(1);
  record.method = "GET";
  record.scheme = "http";
  record.host = "example.com";
  record.port = 80;
  record.path = path;
  return record;
}

Record refused(acl::Reason reason) {
  Record record = deny_record("evil.example");
  record.reason = reason;
  record.status = acl::status(reason);
  return record;
}

TEST(SquidLine, ALineThatStandsForManyRefusalsSaysHowMany) {
  Record record;
  record.event = Event::deny;
  record.agent = "alpha";
  record.reason = acl::Reason::host_not_allowed;
  record.count = 968;
  EXPECT_NE(squid_line_of(record).find("TCP_DENIED/403 0 NONE error:refused-968-times alpha"),
            std::string::npos);
}

TEST(SquidLine, WritesAFinishedTunnel) {
  EXPECT_EQ(
      squid_line_of(close_record(1)),
      "1794819600.000    842 10.200.0.2 TCP_TUNNEL/200 16464 CONNECT api.github.com:443 alpha "
      "HIER_DIRECT/140.82.121.6 -\n");
}

TEST(SquidLine, WritesARefusalWithoutAnOrigin) {
  EXPECT_EQ(squid_line_of(refused(acl::Reason::host_not_allowed)),
            "1794819600.000      0 10.200.0.2 TCP_DENIED/403 0 CONNECT evil.example:443 alpha "
            "HIER_NONE/- application/json\n");
}

TEST(SquidLine, WritesPlainHttpWithItsUrl) {
  EXPECT_EQ(squid_line_of(http_close("/a/b")),
            "1794819600.000    842 10.200.0.2 TCP_MISS/200 16464 GET http://example.com/a/b alpha "
            "HIER_DIRECT/140.82.121.6 -\n");
  Record other_port = http_close("");
  other_port.port = 8080;
  EXPECT_NE(squid_line_of(other_port).find(" http://example.com:8080/ "), std::string::npos);
}

TEST(SquidLine, WritesOnlyWhatIsFinished) {
  for (const Event event :
       {Event::open, Event::policy, Event::grant, Event::start, Event::stop, Event::audit_gap}) {
    Record record = open_record(1);
    record.event = event;
    EXPECT_EQ(squid_line_of(record), "") << text(event);
  }
}

TEST(SquidLine, NamesTheEndInSquidsWords) {
  struct Case {
    Event event;
    acl::Reason reason;
    std::string_view method, tag;
  };
  using acl::Reason;
  const Case table[] = {
      {Event::deny, Reason::unknown_agent, "CONNECT", " TCP_DENIED/403 "},
      {Event::deny, Reason::sni_mismatch, "CONNECT", " TCP_DENIED/403 "},
      {Event::deny, Reason::budget_exhausted, "GET", " TCP_DENIED/429 "},
      {Event::deny, Reason::audit_unavailable, "GET", " TCP_DENIED/503 "},
      {Event::deny, Reason::client_hello_timeout, "CONNECT", " TCP_DENIED_TIMEDOUT/403 "},
      {Event::deny, Reason::bad_request, "GET", " NONE_NONE/400 "},
      {Event::deny, Reason::header_too_large, "GET", " NONE_NONE/431 "},
      {Event::deny, Reason::header_timeout, "GET", " NONE_NONE_TIMEDOUT/408 "},
      {Event::deny, Reason::dns_failure, "CONNECT", " TCP_TUNNEL/502 "},
      {Event::deny, Reason::origin_unreachable, "GET", " TCP_MISS/502 "},
      {Event::deny, Reason::origin_timeout, "GET", " TCP_MISS_TIMEDOUT/504 "},
      {Event::close, Reason::none, "CONNECT", " TCP_TUNNEL/200 "},
      {Event::close, Reason::revoked, "CONNECT", " TCP_TUNNEL_ABORTED/200 "},
      {Event::close, Reason::idle_timeout, "CONNECT", " TCP_TUNNEL_TIMEDOUT/200 "},
      {Event::close, Reason::none, "GET", " TCP_MISS/000 "},  // ended before the answer
      {Event::close, Reason::budget_exhausted, "GET", " TCP_MISS_ABORTED/000 "},
  };
  for (const Case& row : table) {
    Record record = open_record(1);
    record.event = row.event;
    record.reason = row.reason;
    record.method = row.method;
    record.status = 0;
    EXPECT_NE(squid_line_of(record).find(row.tag), std::string::npos) << squid_line_of(record);
  }
}

TEST(SquidLine, NamesARequestThatWasNotUnderstood) {
  Record record = refused(acl::Reason::bad_request);
  record.method = record.host = record.agent = {};
  record.port = 0;
  EXPECT_NE(
      squid_line_of(record).find(" NONE_NONE/400 0 NONE error:invalid-request - HIER_NONE/- "),
      std::string::npos)
      << squid_line_of(record);
}

TEST(SquidLine, WritesAddressesWithoutPorts) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {"10.0.0.7:3456", " 10.0.0.7 "},
      {"[2001:db8::7]:3456", " 2001:db8::7 "},
      {"10.0.0.7", " 10.0.0.7 "},
      {"2001:db8::7", " 2001:db8::7 "},
      {"", " - "},
      {"[", " - "},
  };
  for (const auto& [src, expected] : table) {
    Record record = close_record(1);
    record.src = src;
    EXPECT_NE(squid_line_of(record).find(expected), std::string::npos) << squid_line_of(record);
  }
}

TEST(SquidLine, PutsAnAddressOfSixteenBytesInBrackets) {
  Record record = close_record(1);
  record.host = "2001:db8::7";
  EXPECT_NE(squid_line_of(record).find(" CONNECT [2001:db8::7]:443 "), std::string::npos);
}

TEST(SquidLine, EscapesEveryByteThatCouldForgeAWordOrALine) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string raw = std::string{"/a"} + static_cast<char>(byte) + "b";
    Record record = http_close(raw);
    record.method = record.host = record.agent = record.src = record.origin = record.scheme =
        std::string_view{raw}.substr(1);
    const std::string text = squid_line_of(record);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    std::istringstream words{text};
    std::size_t count = 0;
    for (std::string word; words >> word;) ++count;
    EXPECT_EQ(count, 10u) << text;
    for (const char written : text.substr(0, text.size() - 1)) {
      EXPECT_TRUE(written >= 0x20 && written <= 0x7e) << text;
    }
  }
}

TEST(SquidLine, EscapesAsSquidDoes) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {"/a b", "/a%20b"},           {"/a\r\nb", "/a%0D%0Ab"},
      {"/a%20b", "/a%20b"},  // not twice
      {"/\xc3\xa4", "/%C3%A4"},     {"/\"<>{}|\\^`#", "/%22%3C%3E%7B%7D%7C%5C%5E%60%23"},
      {"/~user/[x]", "/~user/[x]"},
  };
  for (const auto& [path, expected] : table) {
    EXPECT_NE(squid_line_of(http_close(path)).find("example.com" + std::string{expected} + " "),
              std::string::npos)
        << squid_line_of(http_close(path));
  }
}

}  // namespace
}  // namespace stile::audit
