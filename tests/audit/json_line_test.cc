// The exact bytes of JSON lines.
#include "audit/json_line.h"

#include <gtest/gtest.h>

#include "audit/format.h"
#include "audit/line.h"
#include "tests/audit/schema.h"
#include "tests/audit/world.h"

namespace stile::audit {
namespace {

// The line as a log without a chain writes it, with seq 1.
std::string line_of(const Record& record) {
  std::string text;
  TimeText time;
  const std::size_t number_at = append_json(text, record, time);
  text.insert(number_at, "1");
  return text + "}";
}

TEST(JsonLine, HasEveryKeyInItsOrder) {
  Record record = close_record(7);
  record.time_us = 1'794'819'600'000'042;
  record.method = "GET";
  record.scheme = "http";
  record.path = "/zen";
  record.reason = acl::Reason::revoked;
  record.stripped = {"Authorization", "X-Api-Key"};
  record.count = 2;
  record.version = "0.1.0";
  record.config = "sha256:ab";
  record.torn = "cd";
  record.actor = "uid 0";
  record.detail = "reload";
  EXPECT_EQ(line_of(record),
            R"({"ts":"2026-11-16T09:00:00.000042Z","seq":1,"event":"close","agent":"alpha",)"
            R"("src":"10.200.0.2:40312","conn":7,"method":"GET","scheme":"http",)"
            R"("host":"api.github.com","port":443,"path":"/zen","verdict":"allow",)"
            R"x("reason":"revoked","rule":"api.github.com (/etc/stile/stile.toml:12)",)x"
            R"("status":200,"origin":"140.82.121.6","sni":"api.github.com","bytes_up":517,)"
            R"("bytes_down":16464,"duration_ms":842,"stripped":["Authorization","X-Api-Key"],)"
            R"("count":2,"policy":3,"version":"0.1.0","config":"sha256:ab","torn":"cd",)"
            R"("actor":"uid 0","detail":"reload"})");
}

TEST(JsonLine, LeavesOutWhatIsNotSetButWritesZerosThatAre) {
  Record record;
  record.event = Event::close;
  record.bytes_up = 0;
  EXPECT_EQ(line_of(record),
            R"({"ts":"1970-01-01T00:00:00.000000Z","seq":1,"event":"close","bytes_up":0})");
}

TEST(JsonLine, NamesEveryEvent) {
  const std::pair<Event, std::string_view> table[] = {
      {Event::open, "open"},     {Event::close, "close"},         {Event::deny, "deny"},
      {Event::policy, "policy"}, {Event::grant, "grant"},         {Event::start, "start"},
      {Event::stop, "stop"},     {Event::audit_gap, "audit-gap"},
  };
  for (const auto& [event, name] : table) {
    Record record;
    record.event = event;
    EXPECT_NE(line_of(record).find("\"event\":\"" + std::string{name} + "\""), std::string::npos);
  }
}

TEST(JsonLine, StampsTimeInUtcWithMicroseconds) {
  const std::pair<std::int64_t, std::string_view> table[] = {
      {0, "1970-01-01T00:00:00.000000Z"},
      {951'782'399'999'999, "2000-02-28T23:59:59.999999Z"},
      {951'782'400'000'000, "2000-02-29T00:00:00.000000Z"},
      {4'107'542'399'000'001, "2100-02-28T23:59:59.000001Z"},
      {-1, "1970-01-01T00:00:00.000000Z"},         // a clock before all clocks
      {INT64_MAX, "9999-12-31T23:59:59.999999Z"},  // never a fifth digit
  };
  TimeText time;
  for (const auto& [micros, expected] : table) {
    const TimeText::Text text = time(micros);
    EXPECT_EQ((std::string_view{text.data(), text.size()}), expected);
  }
}

TEST(JsonLine, KeepsTheSecondAndMovesTheMicroseconds) {
  TimeText time;
  std::string text;
  for (const std::int64_t micros :
       {1'794'819'600'000'001, 1'794'819'600'999'999, 1'794'819'601'000'000}) {
    const TimeText::Text part = time(micros);
    text.append(part.data(), part.size());
  }
  EXPECT_EQ(text,
            "2026-11-16T09:00:00.000001Z2026-11-16T09:00:00.999999Z2026-11-16T09:00:01.000000Z");
}

std::string expected_escape(int byte) {
  if (byte == '"') return "\\\"";
  if (byte == '\\') return "\\\\";
  if (byte >= 0x20 && byte <= 0x7e) return std::string(1, static_cast<char>(byte));
  char text[8];
  std::snprintf(text, sizeof text, "\\u00%02x", static_cast<unsigned>(byte));
  return text;
}

TEST(JsonLine, EscapesEveryByteInHostAndPathAndReadsItBack) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string raw = std::string{"a"} + static_cast<char>(byte) + "b";
    Record record = deny_record(raw);
    record.path = raw;
    const std::string text = line_of(record);
    const std::string escaped = "\"a" + expected_escape(byte) + "b\"";
    EXPECT_NE(text.find("\"host\":" + escaped), std::string::npos) << text;
    EXPECT_NE(text.find("\"path\":" + escaped), std::string::npos) << text;
    EXPECT_EQ(schema_violation(text.substr(0, text.size() - 1) + R"(,"chain":"main","prev":")" +
                               std::string(64, '0') + "\"}"),
              "");
    Line line;
    ASSERT_EQ(read_line(text, line), LineKind::whole) << text;
    EXPECT_EQ(line.text(Key::host), raw);
    EXPECT_EQ(line.text(Key::path), raw);
  }
}

// Eight bytes are looked at at once: a byte means the same at each place among its neighbours.
TEST(JsonLine, EscapesEachByteAtEachPlace) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    std::string alone;
    append_escaped(alone, {&c, 1});
    for (const char neighbour : {' ', '~', '#', '!', '[', ']'}) {
      for (std::size_t place = 0; place < 19; ++place) {
        std::string bytes(19, neighbour);
        bytes[place] = c;
        std::string escaped;
        append_escaped(escaped, bytes);
        EXPECT_EQ(escaped,
                  std::string(place, neighbour) + alone + std::string(18 - place, neighbour))
            << byte << " at " << place;
      }
    }
    EXPECT_EQ(alone.size(), byte == '"' || byte == '\\'  ? 2U
                            : byte < 0x20 || byte > 0x7e ? 6U
                                                         : 1U);
  }
}

TEST(JsonLine, CutsEveryTextFieldAtOneKibibyteOfInput) {
  const std::string at_limit(max_field_bytes, '\n');
  const std::string above = at_limit + "x";
  Line line;
  for (const std::string& host : {at_limit, above}) {
    const std::string text = line_of(deny_record(host));
    ASSERT_EQ(read_line(text, line), LineKind::whole);
    EXPECT_EQ(line.text(Key::host), at_limit);
  }
}

TEST(JsonLine, CutsTheListOfStrippedHeadersAsOneField) {
  Record record = open_record(1);
  const std::string name(100, 'n');
  record.stripped.assign(50, name);
  Line line;
  const std::string text = line_of(record);
  ASSERT_EQ(read_line(text, line), LineKind::whole);
  EXPECT_EQ(line.raw(Key::stripped).size(),
            10 * (name.size() + 3) + 1);  // quotes, commas, brackets
}

TEST(JsonLine, IsNeverLongerThanTheBound) {
  const std::string worst(2 * max_field_bytes, '\xff');
  Record record;
  record.agent = record.src = record.method = record.scheme = record.host = record.path =
      record.rule = record.origin = record.sni = record.version = record.config = record.torn =
          record.actor = record.detail = worst;
  record.stripped.assign(max_field_bytes, "\xff");
  record.conn = record.count = record.policy = UINT64_MAX;
  record.bytes_up = record.bytes_down = record.duration_ms = UINT64_MAX;
  EXPECT_LT(line_of(record).size() + 200, max_line_bytes);
}

}  // namespace
}  // namespace stile::audit
