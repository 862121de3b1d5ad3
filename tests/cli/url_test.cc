// The address of a webhook.
#include <gtest/gtest.h>

#include "notify/webhook.h"

namespace stile::notify {
namespace {

struct Row {
  const char* text;
  const char* shown;  // "TLS? host port path"; empty: refused
};

constexpr Row rows[] = {
    {"https://hooks.example.org/services/T0/x?y=1", "tls hooks.example.org 443 /services/T0/x?y=1"},
    {"https://Hooks.Example.org", "tls hooks.example.org 443 /"},
    {"https://h.example:8443?x", "tls h.example 8443 /?x"},
    {"https://[::1]:1/a#b", "tls [::1] 1 /a"},
    {"http://127.0.0.1:9/a", "plain 127.0.0.1 9 /a"},
    {"http://localhost/", "plain localhost 80 /"},
    {"http://h.example/", ""},
    {"http://127.evil.example/", ""},
    {"ftp://h.example/", ""},
    {"h.example", ""},
    {"https://", ""},
    {"https://:443/", ""},
    {"https://h.example:0/", ""},
    {"https://h.example:65536/", ""},
    {"https://h.example:x/", ""},
    {"https://user:password@h.example/", ""},
    {"https://h.example/a b", ""},
    {"https://h.example/a\r\nX: y", ""},
    {"", ""},
};

TEST(WebhookUrl, IsReadOrRefused) {
  for (const Row& row : rows) {
    const auto url = parse_url(row.text);
    std::string shown;
    if (url) {
      shown = std::string{url->is_tls ? "tls " : "plain "} + url->host + ' ' +
              std::to_string(url->port) + ' ' + url->path;
    }
    EXPECT_EQ(shown, row.shown) << row.text;
  }
}

TEST(WebhookUrl, AProxyIsPlain) {
  EXPECT_TRUE(parse_proxy("http://10.200.0.1:3128"));
  EXPECT_FALSE(parse_proxy("https://10.200.0.1:3128"));
  EXPECT_FALSE(parse_proxy("10.200.0.1:3128"));
}

}  // namespace
}  // namespace stile::notify
