// Json: what is written is read again; what is missing is empty.
#include "base/json_value.h"

#include <gtest/gtest.h>

namespace stile {
namespace {

TEST(Json, WritesWhatItReads) {
  for (const char* text : {"null", "true", "-5", "18446744073709551615", "1.5", R"("a\"\\\u001b")",
                           R"({"b":1,"a":[{},[],"x"]})"}) {
    EXPECT_EQ(Json::parse(text).dump(), text);
  }
  EXPECT_EQ((Json{{"z", 1}, {"a", std::vector<std::string>{"x", "y"}}, {"f", false}}.dump()),
            R"({"z":1,"a":["x","y"],"f":false})");
}

TEST(Json, IsAsciiWhateverAnAgentSent) {
  EXPECT_EQ(Json{"\x1b[2J\xc3\xbc\xff"}.dump(), R"("\u001b[2J\u00fc\ufffd")");
}

TEST(Json, IsPatientWithAnswers) {
  const Json answer = Json::parse(R"({"n":"7","t":5,"l":{},"o":[]})");
  EXPECT_EQ(number_of(answer, "n"), 0u);
  EXPECT_EQ(text_of(answer, "t"), "5");
  EXPECT_EQ(list_of(answer, "l").size(), 0u);
  EXPECT_EQ(text_of(object_of(answer, "o"), "x"), "");
  EXPECT_FALSE(has(answer, "missing"));
  EXPECT_TRUE(Json::parse("{no json").is_null());
}

TEST(Json, SetReplacesOrAdds) {
  Json json{{"a", 1}};
  json.set("a", "x");
  json.set("b", true);
  EXPECT_EQ(json.dump(), R"({"a":"x","b":true})");
}

TEST(Json, HasABoundedDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_FALSE(Json::parse(nested(Json::max_depth)).is_null());
  EXPECT_TRUE(Json::parse(nested(Json::max_depth + 1)).is_null());
  EXPECT_TRUE(Json::parse(std::string(1U << 20U, '[')).is_null());
}

TEST(Json, StrictlyHasEachKeyOnceAndSoManyValues) {
  EXPECT_EQ(Json::parse(R"({"a":1,"b":2,"a":3})").dump(), R"({"a":3,"b":2})");
  EXPECT_FALSE(Json::parse_strictly(R"({"a":1,"b":2,"a":3})", 99).has_value());
  EXPECT_TRUE(Json::parse_strictly(R"({"a":{"a":1},"b":[2]})", 5).has_value());
  EXPECT_FALSE(Json::parse_strictly(R"({"a":{"a":1},"b":[2]})", 4).has_value());
  for (const char* text : {"", "{", "1 2", "nul", "[1,]", "{\"a\":}", "\"\xff\"", "NaN", "'a'"}) {
    EXPECT_FALSE(Json::parse_strictly(text, 99).has_value()) << text;
  }
}

TEST(Json, KnowsItsKind) {
  const Json all = Json::parse(R"([null,true,-1,2,1.5,"x",[],{}])");
  const auto& items = all.items();
  EXPECT_TRUE(items[0].is_null() && items[1].is_flag() && items[2].is_integer() &&
              items[3].is_integer());
  EXPECT_TRUE(items[4].is_number() && !items[4].is_integer());
  EXPECT_TRUE(items[5].is_text() && items[6].is_list() && items[7].is_object());
  EXPECT_FALSE(items[1].is_number() || items[5].is_list() || items[7].is_list());
}

}  // namespace
}  // namespace stile
