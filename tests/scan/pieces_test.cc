// Search: a text that arrives in pieces, cut anywhere, and compressed data.
#include <gtest/gtest.h>

#include "base/base64.h"
#include "samples.h"

namespace stile::scan {
namespace {

using namespace samples;

std::string found_in_two(std::string_view text, std::size_t at, Search::Of of = Search::Of::body) {
  Search search{all_sets(), of};
  search.feed(text.substr(0, at));
  search.feed(text.substr(at), Search::More::no);
  return all_sets()->rules().names(search.found());
}

TEST(Pieces, AreCutAtEveryByte) {
  const std::string token = tokens()[0].text;
  for (const std::string& text :
       {"before " + token + " after", base64("some text and " + token), hex_of(token),
        percent(token, true), json_escaped(token), base64(base64(token))}) {
    for (std::size_t at = 0; at <= text.size(); ++at) {
      ASSERT_EQ(found_in_two(text, at), "tokens") << text << " at " << at;
    }
  }
}

TEST(Pieces, AreSingleBytes) {
  const std::string text = "key: " + tokens()[3].text + " and " + base64(tokens()[5].text);
  Search search{all_sets()};
  for (const char c : text) search.feed({&c, 1});
  EXPECT_EQ(all_sets()->rules().names(search.found()), "tokens");
}

TEST(Pieces, OfALongRunInBase64KeepTheirPlace) {
  const std::string bytes = random_bytes(200'000, 1) + tokens()[0].text + random_bytes(9'000, 2);
  const std::string text = "data:application/octet-stream;base64," + base64(bytes);
  for (const std::size_t size : {std::size_t{1000}, std::size_t{4099}, std::size_t{65536}}) {
    Search search{all_sets()};
    for (std::size_t i = 0; i < text.size(); i += size) {
      search.feed(std::string_view{text}.substr(i, size));
    }
    EXPECT_EQ(all_sets()->rules().names(search.found()), "tokens") << size;
  }
}

TEST(Compressed, IsReadFromAnyPiece) {
  const std::string text = gzip(random_text(50'000, 1) + tokens()[0].text + random_text(50'000, 2));
  for (std::size_t at = 0; at <= text.size(); at += 997) {
    EXPECT_EQ(found_in_two(text, at, Search::Of::gzip_body), "tokens") << at;
  }
}

TEST(Compressed, IsRecognisedWithoutAHeader) {
  EXPECT_EQ(found_in(all_sets(), gzip("x " + tokens()[0].text)), "tokens");
}

TEST(Compressed, ThatIsNoneIsReadAsItIs) {
  const std::string text = "plain " + tokens()[0].text;
  EXPECT_EQ(found_in_two(text, 3, Search::Of::gzip_body), "tokens");
  EXPECT_EQ(found_in_two("\x1f\x8b\x08 broken " + tokens()[0].text, 3), "tokens");
}

TEST(Compressed, TooMuchIsReported) {
  Search search{all_sets(), Search::Of::gzip_body};
  search.feed(gzip(std::string(8U << 20U, '\0') + tokens()[0].text), Search::More::no);
  EXPECT_TRUE(search.is_too_dense());
  Search nested{all_sets()};
  nested.feed(base64(gzip(std::string(8U << 20U, '\0'))), Search::More::no);
  EXPECT_TRUE(nested.is_too_dense());
  Search fine{all_sets(), Search::Of::gzip_body};
  fine.feed(gzip(std::string(900'000, 'a')), Search::More::no);
  EXPECT_FALSE(fine.is_too_dense());
  EXPECT_FALSE(fine.is_unreadable());
}

TEST(Compressed, IsReadWhereverItBegins) {
  const std::string text = "--b\r\n\r\n" + gzip("x") + "\r\n--b\r\n\r\n" +
                           gzip("some text " + tokens()[0].text) + "\r\n--b--\r\n";
  for (std::size_t at = 0; at <= text.size(); ++at) {
    EXPECT_EQ(found_in_two(text, at), "tokens") << at;
  }
  Search bytes{all_sets()};
  for (const char c : text) bytes.feed({&c, 1});
  EXPECT_EQ(all_sets()->rules().names(bytes.found()), "tokens");
}

TEST(Compressed, DeflateIsReadWithAndWithoutItsHeader) {
  const std::string clear = random_text(3000, 1) + tokens()[0].text;
  for (const std::string& text : {zlib(clear), raw_deflate(clear)}) {
    for (std::size_t at = 0; at <= text.size(); at += at < 8 ? 1 : 97) {
      Search search{all_sets(), Search::Of::deflate_body};
      search.feed(std::string_view{text}.substr(0, at));
      search.feed(std::string_view{text}.substr(at), Search::More::no);
      EXPECT_EQ(all_sets()->rules().names(search.found()), "tokens") << at;
      EXPECT_FALSE(search.is_unreadable()) << at;
    }
  }
}

TEST(Compressed, ThatItsHeadDeclaresWronglyIsReported) {
  const std::string good = gzip(random_text(3000, 1));
  for (const std::string& text :
       {std::string{"plain text"}, good.substr(0, 100) + "damaged" + good.substr(100),
        good + "more", good.substr(1)}) {
    for (const auto of : {Search::Of::gzip_body, Search::Of::deflate_body}) {
      Search search{all_sets(), of};
      search.feed(text);
      EXPECT_TRUE(search.is_unreadable()) << text;
    }
    EXPECT_EQ(found_in(all_sets(), text), "");
  }
  Search none{all_sets(), Search::Of::gzip_body};
  none.feed("", Search::More::no);
  EXPECT_FALSE(none.is_unreadable());
}

TEST(Compressed, TooManyBeginningsAreReported) {
  // Each says that a name of any length follows.
  std::string starts;
  while (starts.size() < 32 * 1024) starts += std::string{"\x1f\x8b\x08\x08______", 10};
  for (const std::string& text : {starts, base64(starts), hex_of(starts)}) {
    Search search{all_sets()};
    search.feed(text);
    EXPECT_TRUE(search.is_too_dense());
  }
}

TEST(Compressed, OfAShortTextIsLimitedMore) {
  const std::string text = base64(gzip(std::string(200'000, 'a')));
  EXPECT_TRUE(find_in(all_sets(), text).is_too_dense);
  EXPECT_FALSE(find_in(all_sets(), base64(gzip(std::string(20'000, 'a')))).is_too_dense);
}

// Like an upload of a tar that has pages of manuals in it.
TEST(Compressed, FilesInAnArchiveAreNotTooDense) {
  std::string tar;
  for (unsigned i = 0; i < 600; ++i) {
    const std::string page = random_text(40, i) + ' ';
    std::string all;
    for (int n = 0; n < 300; ++n) all += page;
    tar += std::string(512, '\0') + gzip(all) + random_bytes(3000, i);
  }
  const std::string body = gzip(tar);
  Search search{all_sets()};
  for (std::size_t i = 0; i < body.size(); i += 65536) {
    search.feed(std::string_view{body}.substr(i, 65536));
  }
  EXPECT_FALSE(search.is_too_dense());
}

}  // namespace
}  // namespace stile::scan
