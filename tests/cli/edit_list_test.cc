// edit_list: the words are added, and not a byte of the rest is changed.
#include "cli/edit_list.h"

#include <gtest/gtest.h>

namespace stile::cli {
namespace {

std::string added(const std::string& text, const std::vector<std::string>& words = {"new"},
                  ListSyntax syntax = ListSyntax::toml) {
  const auto edited = add_to_list(text, text.find("allow"), words, syntax);
  return edited ? *edited : "refused: " + edited.error().message;
}

TEST(EditList, AddsToAListOfOneLine) {
  EXPECT_EQ(added("allow = []\n"), "allow = [\"new\"]\n");
  EXPECT_EQ(added("allow = [ \"a\", 'b' ]  # c\n"), "allow = [ \"a\", 'b', \"new\" ]  # c\n");
  EXPECT_EQ(added("allow=[\"a\",]\n"), "allow=[\"a\", \"new\",]\n");
  EXPECT_EQ(added("allow = [\"a\"]\n", {"x", "y"}), "allow = [\"a\", \"x\", \"y\"]\n");
}

TEST(EditList, AddsLinesToAListOfLines) {
  EXPECT_EQ(added("allow = [\n  \"a\",  # why ]\n  \"b\",\n]\nx = 1\n"),
            "allow = [\n  \"a\",  # why ]\n  \"b\",\n  \"new\",\n]\nx = 1\n");
  EXPECT_EQ(added("allow = [\n\t\"a\",\n\t\"b\"  # the last\n]\n"),
            "allow = [\n\t\"a\",\n\t\"b\",  # the last\n\t\"new\"\n]\n");
  EXPECT_EQ(added("allow = [\r\n  \"a\",\r\n]\r\n"),
            "allow = [\r\n  \"a\",\r\n  \"new\",\r\n]\r\n");
}

TEST(EditList, AddsToAListInJson) {
  EXPECT_EQ(added("{\"allow\": [\"a\"], \"b\": []}", {"new"}, ListSyntax::json),
            "{\"allow\": [\"a\", \"new\"], \"b\": []}");
}

TEST(EditList, EscapesWhatARegexHas) {
  EXPECT_EQ(added("allow = []", {"~^a\\.b\"$"}), "allow = [\"~^a\\\\.b\\\"$\"]");
}

TEST(EditList, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"allow = 1\n", "allow = [\"\"\"a\"\"\"]\n", "allow = [[\"a\"]]\n",
                           "allow = [\"a\"", "allow = [\"a\n\"]\n", "allow = [\"a\"\n]\n"}) {
    EXPECT_TRUE(added(text).starts_with("refused: ")) << text;
  }
}

TEST(EditList, MakesANewListBehindTheId) {
  const std::string text = "[[agent]]\n  id = \"a\"  # the first\n  mode = \"observe\"\n";
  EXPECT_EQ(*add_new_list(text, text.find("id"), "allow", {"x"}, ListSyntax::toml),
            "[[agent]]\n  id = \"a\"  # the first\n  allow = [\"x\"]\n  mode = \"observe\"\n");
  const std::string card = "{\"agent_id\": \"a\"}";
  EXPECT_EQ(*add_new_list(card, 1, "allowed_hosts", {"x"}, ListSyntax::json),
            "{\"allowed_hosts\": [\"x\"], \"agent_id\": \"a\"}");
  const std::string table = "agent = [{id = \"a\"}]\n";
  EXPECT_FALSE(add_new_list(table, table.find("id"), "allow", {"x"}, ListSyntax::toml));
}

TEST(EditList, ShowsWhatHasChanged) {
  EXPECT_EQ(line_diff("f", "a\nb\nc\nd\n", "a\nb\nX\nY\nd\n"),
            "--- f\n+++ f\n@@ line 3 @@\n b\n-c\n+X\n+Y\n d\n");
  EXPECT_EQ(line_diff("f", "a\n", "a\n"), "");
  EXPECT_EQ(offset_of("ab\ncd\n", 2, 2), 4u);
}

}  // namespace
}  // namespace stile::cli
