// Anchors: the same places as a simple search.
#include "scan/anchors.h"

#include <gtest/gtest.h>

#include <set>

#include "samples.h"

namespace stile::scan {
namespace {

using Places = std::multiset<std::pair<std::size_t, std::size_t>>;

void add_found(const Anchors& anchors, std::string_view text, std::size_t from, std::size_t to,
               Places& places) {
  anchors.visit(text, from, to,
                [&](std::size_t number, std::size_t at) { places.emplace(number, at); });
}

Places found(const Anchors& anchors, std::string_view text) {
  Places places;
  add_found(anchors, text, 0, text.size(), places);
  return places;
}

Places expected(const std::vector<std::string_view>& texts, std::string_view in) {
  Places places;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t at = in.find(texts[i]); at != std::string_view::npos;
         at = in.find(texts[i], at + 1)) {
      places.emplace(i, at);
    }
  }
  return places;
}

TEST(Anchors, FindWhatASimpleSearchFinds) {
  const std::vector<std::string_view> texts{"abc", "abca", "bca", "cab", "aaa", "ccc", "abc"};
  const Anchors anchors{texts};
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::string text = samples::random_text(seed, seed, "abcd");
    EXPECT_EQ(found(anchors, text), expected(texts, text)) << text;
  }
}

TEST(Anchors, FindEachTextInOnePartOnly) {
  const std::vector<std::string_view> texts{"abc", "abcab", "bca", "aaa", "dddddddd"};
  const Anchors anchors{texts};
  const std::string text = samples::random_text(200, 1, "abc") + std::string(50, 'd');
  for (std::size_t at = 0; at <= text.size(); ++at) {
    Places places;
    add_found(anchors, text, 0, at, places);
    add_found(anchors, text, at, text.size(), places);
    EXPECT_EQ(places, expected(texts, text)) << at;
  }
}

TEST(Anchors, FindTextsAtEveryPlaceOfABlock) {
  const std::vector<std::string_view> texts{"xyz"};
  const Anchors anchors{texts};
  for (std::size_t size = 0; size < 100; ++size) {
    for (std::size_t at = 0; at + 3 <= size; ++at) {
      std::string text(size, '.');
      text.replace(at, 3, "xyz");
      EXPECT_EQ(found(anchors, text), (Places{{0, at}})) << size << ' ' << at;
    }
  }
}

TEST(Anchors, TakeAnyByte) {
  using namespace std::literals;
  const std::vector<std::string_view> texts{"\0\0\0"sv, "\xff\xfe\x80"sv, "\x80\x80\x80\x80"sv};
  const std::string text =
      "a\0\0\0b\xff\xfe\x80\x80\x80\x80 and more than thirty-two bytes"s + std::string(40, '\0');
  EXPECT_EQ(found(Anchors{texts}, text), expected(texts, text));
}

TEST(Anchors, WithoutTextsFindNothing) {
  EXPECT_TRUE(found(Anchors{{}}, "anything, longer than thirty-two bytes in all").empty());
}

}  // namespace
}  // namespace stile::scan
