// Secrets on the command line, and the keys of well-known APIs.
#include "config/api_providers.h"

#include <gtest/gtest.h>

namespace stile::config {
namespace {

struct SecretCase {
  const char *text, *name, *file, *host, *header, *format, *variable;
};

TEST(ParseSecret, ReadsNameFileHostAndHeader) {
  const SecretCase cases[] = {
      {"k=/f:api.anthropic.com", "k", "/f", "api.anthropic.com", "X-Api-Key", "{}",
       "ANTHROPIC_API_KEY"},
      {"k=/f:api.anthropic.com:X-Api-Key", "k", "/f", "api.anthropic.com", "X-Api-Key", "{}",
       "ANTHROPIC_API_KEY"},
      {"k=/f:api.openai.com", "k", "/f", "api.openai.com", "Authorization", "Bearer {}",
       "OPENAI_API_KEY"},
      {"my-key=/f:a.test", "my-key", "/f", "a.test", "Authorization", "Bearer {}",
       "MY_KEY_API_KEY"},
      {"k=/f:a.test:8443", "k", "/f", "a.test:8443", "Authorization", "Bearer {}", "K_API_KEY"},
      {"k=/f:a.test:8443:X-Key", "k", "/f", "a.test:8443", "X-Key", "{}", "K_API_KEY"},
      {"k=/f:*.a.test:authorization", "k", "/f", "*.a.test", "Authorization", "Bearer {}",
       "K_API_KEY"},
      {"1=f:a.test", "1", "./f", "a.test", "Authorization", "Bearer {}", "_1_API_KEY"},
  };
  for (const auto& [text, name, file, host, header, format, variable] : cases) {
    const auto secret = parse_secret(text);
    ASSERT_TRUE(secret) << text << ": " << secret.error().message;
    EXPECT_EQ(secret->name, name) << text;
    EXPECT_EQ(secret->file, file) << text;
    ASSERT_EQ(secret->hosts.size(), 1U);
    EXPECT_EQ(secret->hosts[0].pattern.text(), host) << text;
    EXPECT_EQ(secret->header, header) << text;
    EXPECT_EQ(secret->format, format) << text;
    EXPECT_EQ(secret->agent_env, variable) << text;
  }
}

TEST(ParseSecret, RefusesEverythingElse) {
  for (const auto* text :
       {"", "=", "k", "k=", "k=/f", "k=/f:", "k=:a.test", "=/f:a.test", "K=/f:a.test",
        "k=/f:.a.test", "k=/f:*", "k=/f:http://a.test", "k=/f:a.test:b c", "k=/f:a.test:H:more",
        "k=/f:a.test:0", "k=/f:a.test:99999", "k=/f:10.0.0.1", "k=/f:a.test:"}) {
    EXPECT_FALSE(parse_secret(text)) << text;
  }
}

TEST(ParseSecret, NeverCrashesOnAPart) {
  const std::string text = "name=/some/file:*.a.test:8443:X-Header";
  for (std::size_t from = 0; from < text.size(); ++from) {
    for (std::size_t size = 0; size + from <= text.size(); ++size) {
      const auto secret = parse_secret(text.substr(from, size));
      if (secret) {
        EXPECT_FALSE(secret->file.empty() || secret->header.empty());
      }
    }
  }
}

TEST(ApiProvider, IsFoundByNameAndByHost) {
  EXPECT_EQ(provider_named("anthropic"), provider_at("api.anthropic.com"));
  EXPECT_EQ(provider_named("ollama"), nullptr);
  EXPECT_EQ(provider_at(""), nullptr);
  EXPECT_EQ(secret_of(*provider_named("openai")).format, "Bearer {}");
}

}  // namespace
}  // namespace stile::config
