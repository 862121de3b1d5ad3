// The reader of lines: what is whole, torn, or foreign.
#include "audit/line.h"

#include <gtest/gtest.h>

#include "audit/format.h"

namespace stile::audit {
namespace {

constexpr std::string_view sample =
    R"({"ts":"2026-11-16T09:00:00.000042Z","seq":17,"event":"close","agent":"alpha","conn":7,)"
    R"("host":"a\"\\\u000ab","port":443,"stripped":["Cookie","X"],"policy":3,"chain":"main",)"
    R"("prev":"00"})";

TEST(ReadLine, ReadsWhatTheWriterWrites) {
  Line line;
  ASSERT_EQ(read_line(sample, line), LineKind::whole);
  EXPECT_EQ(line.raw(Key::ts), "2026-11-16T09:00:00.000042Z");
  EXPECT_EQ(line.number(Key::seq), 17u);
  EXPECT_EQ(line.raw(Key::host), R"(a\"\\\u000ab)");
  EXPECT_EQ(line.text(Key::host), "a\"\\\nb");
  EXPECT_EQ(line.raw(Key::stripped), R"(["Cookie","X"])");
  EXPECT_EQ(line.raw(Key::prev), "00");
  EXPECT_EQ(line.raw(Key::sni), "");
  EXPECT_EQ(line.number(Key::bytes_up), 0u);
}

TEST(ReadLine, TakesEveryBeginningOfALineForTorn) {
  Line line;
  for (std::size_t length = 0; length < sample.size(); ++length) {
    EXPECT_EQ(read_line(sample.substr(0, length), line), LineKind::torn) << length;
  }
}

TEST(ReadLine, PassesOverKeysOfALaterVersion) {
  Line line;
  EXPECT_EQ(read_line(R"({"ts":"","seq":1,"event":"x","new":[],"newer":"a","newest":5,"prev":"0"})",
                      line),
            LineKind::whole);
  EXPECT_EQ(line.raw(Key::prev), "0");
}

TEST(ReadLine, RefusesWhatStileDoesNotWrite) {
  const std::string_view table[] = {
      "hello",
      " {",
      "{}",
      "[]",
      R"({"seq":1,"ts":"","event":"x"})",                         // another order
      R"({"ts":"","seq":1})",                                     // no event
      R"({"ts":"","seq":1,"event":"x"} )",                        // something behind
      R"({"ts":"","seq":1,"event":"x",})",                        // an empty pair
      R"({"ts":"","seq":1,"event":"x","host":"a","agent":"b"})",  // out of order
      R"({"ts":"","seq":1,"event":"x","host":"a","host":"b"})",   // twice
      R"({"ts":"","seq":1,"event":"x","ts":""})",
      R"({"ts":"","seq":01,"event":"x"})",
      R"({"ts":"","seq":01)",
      R"({"ts":"","seq":-1,"event":"x"})",
      R"({"ts":"","seq":1e3,"event":"x"})",
      R"({"ts":"","seq":,"event":"x"})",
      R"({"ts":"","seq":18446744073709551616,"event":"x"})",
      R"({"ts":"","seq":"1","event":"x"})",  // wrong type
      R"({"ts":"","seq":1,"event":"x","port":"1"})",
      R"({"ts":"","seq":1,"event":"x","stripped":"a"})",
      R"({"ts":"","seq":1,"event":"x","stripped":["a",]})",
      R"({"ts":"","seq":1,"event":"x","stripped":[1]})",
      R"({"ts":"","seq":1,"event":"x","z":{}})",
      R"({"ts":"","seq":1,"event":"x","z":null})",
      R"({"ts":"","seq":1,"event":"\n"})",  // an escape that is not ours
      R"({"ts":"","seq":1,"event":"\u0100"})",
      R"({"ts":"","seq":1,"event":"\u000A"})",
      "{\"ts\":\"\",\"seq\":1,\"event\":\"\x01\"}",
      "{\"ts\":\"\",\"seq\":1,\"event\":\"\x7f\"}",
      "{\"ts\":\"\",\"seq\":1,\"event\":\"\xc3\xa4\"}",
      R"({"ts": "","seq":1,"event":"x"})",  // blanks
  };
  Line line;
  for (const std::string_view text : table) {
    EXPECT_EQ(read_line(text, line), LineKind::foreign) << text;
  }
}

TEST(ReadLine, RefusesWhatIsLongerThanAnyLine) {
  Line line;
  const std::string head = R"({"ts":"","seq":1,"event":"x","detail":")";
  const std::string fits = head + std::string(max_line_bytes - head.size() - 2, 'x') + "\"}";
  EXPECT_EQ(read_line(fits, line), LineKind::whole);
  EXPECT_EQ(read_line(head + "x" + fits.substr(head.size()), line), LineKind::foreign);
  EXPECT_EQ(read_line(head + std::string(max_line_bytes, 'x'), line), LineKind::foreign);
}

}  // namespace
}  // namespace stile::audit
