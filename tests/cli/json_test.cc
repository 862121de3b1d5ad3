// Json: what is written is read again; what is missing is empty.
#include "cli/json.h"

#include <gtest/gtest.h>

namespace stile::cli {
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

}  // namespace
}  // namespace stile::cli
