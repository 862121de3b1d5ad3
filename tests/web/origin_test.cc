// Origins: which ones are valid, and which headers belong to them.
#include "web/origin.h"

#include <gtest/gtest.h>

namespace stile::web {
namespace {

TEST(ParseOrigin, TakesSchemeAndAuthorityAlone) {
  EXPECT_EQ(parse_origin("http://localhost:8080")->text(), "http://localhost:8080");
  EXPECT_EQ(parse_origin("https://stile.example")->authority, "stile.example");
  EXPECT_EQ(parse_origin("http://[::1]:9129")->authority, "[::1]:9129");
  for (const auto* text : {"", "localhost:8080", "http://", "ftp://a", "http://a/", "http://a/b",
                           "http://u@a", "http://A", "http://a b", "http://a?b", "http://a\n"}) {
    EXPECT_FALSE(parse_origin(text)) << text;
  }
}

const std::vector<Origin> own_origins{{"http", "127.0.0.1:9129"}, {"https", "stile.example"}};

TEST(IsOwnHost, RefusesEveryOtherName) {
  EXPECT_TRUE(is_own_host(own_origins, "127.0.0.1:9129"));
  EXPECT_TRUE(is_own_host(own_origins, "stile.example"));
  for (const auto* host : {"", "127.0.0.1", "127.0.0.1:91290", "evil.example:9129",
                           "127.0.0.1:9129.evil.example", "stile.example."}) {
    EXPECT_FALSE(is_own_host(own_origins, host)) << host;
  }
}

TEST(IsOwnOrigin, IsTheOneOfTheSameHost) {
  EXPECT_TRUE(is_own_origin(own_origins, "127.0.0.1:9129", "http://127.0.0.1:9129"));
  EXPECT_TRUE(is_own_origin(own_origins, "stile.example", "https://stile.example"));
  for (const auto* origin :
       {"", "null", "http://127.0.0.1:3000", "https://127.0.0.1:9129", "http://localhost:9129",
        "http://127.0.0.1:9129.evil.example", "https://stile.example", "http+//127.0.0.1:9129"}) {
    EXPECT_FALSE(is_own_origin(own_origins, "127.0.0.1:9129", origin)) << origin;
  }
}

}  // namespace
}  // namespace stile::web
