// TOML and JSON text to one tree, with the place of every value.
#include <gtest/gtest.h>

#include "config/json_loader.h"
#include "config/toml_loader.h"

namespace stile::config {
namespace {

// The tree on one line, each value with its line and column.
std::string outline(const Node& node) {
  struct Outline {
    std::string operator()(const Unusable& other) const {
      return '<' + std::string{other.name} + '>';
    }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double) const { return "float"; }
    std::string operator()(const std::string& value) const { return '"' + value + '"'; }
    std::string operator()(const Timestamp& value) const {
      return '@' + std::to_string(value.micros);
    }
    std::string operator()(const Node::Array& value) const {
      std::string out = "[";
      for (const auto& element : value) out += outline(element) + ' ';
      return out + ']';
    }
    std::string operator()(const Node::Table& value) const {
      std::string out = "{";
      for (const auto& [key, position, element] : value) {
        out += key + '/' + std::to_string(position.line) + ':' + std::to_string(position.column) +
               '=' + outline(element) + ' ';
      }
      return out + '}';
    }
  };
  return std::visit(Outline{}, node.value) + '/' + std::to_string(node.position.line) + ':' +
         std::to_string(node.position.column);
}

TEST(Toml, KeepsOrderTypesAndPlaces) {
  const auto node = parse_toml("b = 1\na = \"x\"\n[t]\nt = [true,\n  2026-11-16T09:00:00Z]\n", "f");
  ASSERT_TRUE(node) << node.error().text();
  EXPECT_EQ(outline(*node),
            "{b/1:1=1/1:5 a/2:1=\"x\"/2:5 t/3:2={t/4:1=[true/4:6 @1794819600000000/5:3 ]/4:5 }/3:1 "
            "}/1:1");
}

TEST(Toml, HasNoMomentWithoutAnOffset) {
  const auto node = parse_toml("a = 2026-11-16T09:00:00\nb = 2026-11-16\n", "f");
  ASSERT_TRUE(node);
  EXPECT_EQ(outline(*node),
            "{a/1:1=<a date and time without an offset (write …Z for UTC)>/1:5 "
            "b/2:1=<a date or a time alone>/2:5 }/1:1");
}

TEST(Toml, NamesThePlaceOfASyntaxError) {
  const auto node = parse_toml("a = 1\nb = = 2\n", "f.toml");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().text().substr(0, 12), "f.toml:2:5: ");
}

TEST(Toml, RefusesAKeyThatStandsThereTwice) {
  EXPECT_FALSE(parse_toml("a = 1\na = 2\n", "f"));
  EXPECT_FALSE(parse_toml("[a]\nb = 1\n[a]\nc = 1\n", "f"));
}

std::string repeated(std::string_view part, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += part;
  return out;
}

TEST(Toml, RefusesEveryKindOfDeepNestingInsteadOfRunningOutOfStack) {
  constexpr std::size_t deep = 200'000;
  const std::string texts[] = {
      repeated("a.", deep) + "a = 1\n",
      repeated("a . ", deep) + "a = 1\n",
      '[' + repeated("a.", deep) + "a]\n",
      "[[" + repeated("a.", deep) + "a]]\n",
      "x = {" + repeated("a.", deep) + "a = 1}\n",
      "\"=\"." + repeated("a.", deep) + "a = 1\n",
      "x = [\"\"\"\n\"\"\", {" + repeated("a.", deep) + "a = 1}]\n",
      "x = ['''\n\"''', {" + repeated("a.", deep) + "a = 1}]\n",
      "x = [\"\"\"\\\"\"\"\"\", {" + repeated("a.", deep) + "a = 1}]\n",
      "x = " + repeated("[", deep),
      "x = " + repeated("{a=", deep),
  };
  for (const auto& text : texts) EXPECT_FALSE(parse_toml(text, "f")) << text.substr(0, 40);
}

TEST(Toml, RefusesWhatTheParserAssertsToBeImpossible) {
  for (const char* text : {"[#]\n",
                           "[.a]\n",
                           "[[=]]\n",
                           "[]\n",
                           "[[]]\n",
                           "[\n",
                           "[ ",
                           "[[",
                           ".a = 1\n",
                           "a. = 1\n",
                           "a = {. = 1}\n",
                           "a = {,}\n",
                           "= 1\n",
                           "ne\xef\xbb\xbe",
                           "\xc3\xa4 = 1\n",
                           "a = \xe2\x80\xa9",
                           "a = \"\"\"\\\n\xd0\x9d\"\"\"\n",
                           "a = \"\"\"\\ \t\r\n \xd0\x9d\"\"\"\n",
                           "a = \"\"\"\\\xd0\x9d\"\"\"\n",
                           "a = \"\\\xd0\x9d\"\n"}) {
    EXPECT_FALSE(parse_toml(text, "f")) << text;
  }
}

TEST(Toml, LetsAnyCharacterStandInStringsAndComments) {
  EXPECT_TRUE(parse_toml("\xef\xbb\xbf# \xc3\xa4\n\"\xc3\xa4\" = '\xf0\x9f\x98\x80'\n", "f"));
  EXPECT_TRUE(parse_toml("a = \"\"\"\\\n x\xd0\x9d \\\\\xd0\x9d\"\"\"\nb = '\\\xd0\x9d'\n", "f"));
}

TEST(Toml, LetsDotsStandInStringsCommentsAndNumbers) {
  const auto dots = repeated(".", 100);
  const std::string texts[] = {
      "a = \"" + dots + "\"\n",
      "a = '" + dots + "'\n",
      "# " + dots + "\na = 1\n",
      "a = \"\"\"\n" + dots + "\n\"\"\"\n",
      "a = [" + repeated("1.5, ", 100) + "]\n",
  };
  for (const auto& text : texts) EXPECT_TRUE(parse_toml(text, "f")) << text.substr(0, 40);
}

TEST(Toml, RefusesMoreThan16MiB) {
  const auto node = parse_toml(std::string((16U << 20U) + 1, '\n'), "f");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().text(), "f: larger than 16 MiB\n");
}

TEST(Json, KeepsOrderTypesAndPlaces) {
  const auto node =
      parse_json("{\"b\": 1,\n \"a\" :\"x\", \"t\":[true ,-2,\n3.5,null], \"o\": {}}", "f");
  ASSERT_TRUE(node) << node.error().text();
  EXPECT_EQ(outline(*node),
            "{b/1:2=1/1:7 a/2:2=\"x\"/2:7 t/2:12=[true/2:17 -2/2:23 float/3:1 <null>/3:5 ]/2:16 "
            "o/3:12={}/3:17 }/1:1");
}

TEST(Json, SaysThatAnIntegerIsTooLargeInsteadOfChangingIt) {
  const auto node = parse_json("[9223372036854775807, 9223372036854775808]", "f");
  ASSERT_TRUE(node);
  EXPECT_EQ(outline(*node), "[9223372036854775807/1:2 <an integer that is too large>/1:23 ]/1:1");
}

TEST(Json, RefusesAKeyThatStandsThereTwiceAtAnyDepth) {
  const auto node = parse_json("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2}, \"a\": 3}", "f");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().text(),
            "f:2:16: c: appears twice; the first one is in line 2\n"
            "f:2:25: a: appears twice; the first one is in line 1\n");
  EXPECT_FALSE(parse_json(R"({"a": 1, "\u0061": 2})", "f"));
}

TEST(Json, RefusesWhatIsNotOneWholeValue) {
  for (const char* text : {"", " ", "{", "{\"a\"}", "[1,]", "{} {}", "{}x", "// c\n{}", "'a'",
                           "NaN", "\"\xff\"", "01", "{\"a\": 1", "\"\n\"", "nul"}) {
    EXPECT_FALSE(parse_json(text, "f")) << text;
  }
}

TEST(Json, NamesThePlaceOfASyntaxError) {
  const auto node = parse_json("{\"a\": 1,\n  b: 2}", "f.json");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().text().substr(0, 12), "f.json:2:3: ");
}

TEST(Json, RefusesDeepNestingAndHugeObjects) {
  EXPECT_TRUE(parse_json(repeated("[", 8) + repeated("]", 8), "f"));
  EXPECT_FALSE(parse_json(repeated("[", 9) + repeated("]", 9), "f"));
  EXPECT_FALSE(parse_json(repeated("[", 1'000'000), "f"));
  std::string wide = "{";
  for (int i = 0; i < 1025; ++i) wide += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  EXPECT_FALSE(parse_json(wide + '}', "f"));
}

}  // namespace
}  // namespace stile::config
