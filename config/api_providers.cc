// api_providers: how the keys of well-known APIs are sent.
#include "config/api_providers.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/ascii.h"
#include "config/inside_values.h"

namespace stile::config {
namespace {

constexpr std::string_view bearer_format = "Bearer {}", plain_format = "{}";
constexpr std::string_view authorization = "Authorization";
constexpr std::array<ApiProvider, 6> providers{{
    {"anthropic", "ANTHROPIC_API_KEY", "api.anthropic.com", "X-Api-Key", plain_format},
    {"openai", "OPENAI_API_KEY", "api.openai.com", authorization, bearer_format},
    {"gemini", "GEMINI_API_KEY", "generativelanguage.googleapis.com", "X-Goog-Api-Key",
     plain_format},
    {"openrouter", "OPENROUTER_API_KEY", "openrouter.ai", authorization, bearer_format},
    {"github", "GITHUB_TOKEN", "api.github.com", authorization, bearer_format},
    {"custom", "API_KEY", "", "", ""},
}};

const ApiProvider* provider_by(std::string_view ApiProvider::*member,
                               std::string_view text) noexcept {
  const auto* const found =
      std::find_if(providers.begin(), providers.end(),
                   [&](const ApiProvider& one) { return one.*member == text; });
  return found == providers.end() || text.empty() ? nullptr : found;
}

std::vector<std::string> split_at_colons(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::string key_variable_of(std::string_view name) {
  std::string variable;
  for (const char c : name) {
    variable += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  if (is_digit(variable.front())) variable.insert(0, 1, '_');
  return variable + "_API_KEY";
}

template <class Values, class T>
void take_text(const std::string& text, const Reader& reader, T& to) {
  const Node node{text, {}};
  if (auto value = Values::read(node, reader)) to = std::move(*value);
}

}  // namespace

const ApiProvider* provider_named(std::string_view name) noexcept {
  return provider_by(&ApiProvider::name, name);
}

const ApiProvider* provider_at(std::string_view host) noexcept {
  return provider_by(&ApiProvider::host, host);
}

SecretSettings secret_of(const ApiProvider& provider) {
  SecretSettings secret;
  secret.name = provider.name;
  if (auto host = acl::Pattern::parse(provider.host)) secret.hosts = {{std::move(*host), 0}};
  secret.header = provider.header;
  secret.format = provider.format;
  secret.agent_env = provider.variable;
  return secret;
}

Result<SecretSettings> parse_secret(std::string_view text) {
  const auto equals = text.find('=');
  auto parts =
      split_at_colons(text.substr(equals == std::string_view::npos ? text.size() : equals + 1));
  const bool has_port = parts.size() > 2 && is_number(parts[2]);
  if (has_port) {
    parts[1] += ':' + parts[2];
    parts.erase(parts.begin() + 2);
  }
  if (equals == std::string_view::npos || parts.size() < 2 || parts.size() > 3) {
    return Error{"write NAME=FILE:HOST or NAME=FILE:HOST:HEADER"};
  }
  SecretSettings secret;
  if (const auto* provider = provider_at(parts[1])) {
    secret = secret_of(*provider);
  } else {
    secret.header = authorization;
    secret.format = bearer_format;
  }
  Diagnostics problems;
  const Reader reader{problems, {}, ".", {}};
  take_text<SecretName>(std::string{text.substr(0, equals)}, reader, secret.name);
  take_text<Path>(parts[0], reader, secret.file);
  secret.hosts.resize(1);
  take_text<SecretHostElement>(parts[1], reader, secret.hosts[0]);
  if (parts.size() == 3 && !equal_ignoring_case(parts[2], secret.header)) {
    take_text<HeaderName>(parts[2], reader, secret.header);
    secret.format = equal_ignoring_case(parts[2], authorization) ? bearer_format : plain_format;
  }
  if (problems.has_errors()) return Error{problems.items().front().problem};
  if (secret.agent_env.empty()) secret.agent_env = key_variable_of(secret.name);
  return secret;
}

}  // namespace stile::config
