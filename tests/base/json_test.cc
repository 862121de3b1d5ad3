// JSON as text: what goes in comes back when it is parsed.
#include "base/json.h"

#include <gtest/gtest.h>

#include "config/json_loader.h"

namespace stile {
namespace {

TEST(Json, EscapesControlBytesAndKeepsUtf8) {
  EXPECT_EQ(json_text("a\"\\\n\x7f\x1b\u00e4"), "\"a\\\"\\\\\\u000a\\u007f\\u001b\u00e4\"");
}

TEST(Json, DocumentReadsBackTheSame) {
  const std::string text =
      R"({"a":[1,-2,3.5,3.0,1e+300,true,false,null],"b":{"c":""},"d":"\u0001"})";
  const auto parsed = config::parse_json(text, "x");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(config::json_text(*parsed), text);
}

TEST(Json, ObjectPutsCommasBetweenItsMembers) {
  std::string text;
  JsonObject{text}.add("ok", true).add("count", 3).add("names", std::vector<std::string>{"a", "b"});
  EXPECT_EQ(text, R"({"ok":true,"count":3,"names":["a","b"]})");
}

}  // namespace
}  // namespace stile
