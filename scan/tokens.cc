// Tokens: keys and tokens of well-known shapes, and private keys.
//
// A shape that could also be a part of an image in base64 is matched only where no letter or digit
// stands before it. Where a shape has a checksum, it decides. Texts that people make up for
// documentation (xxxx, 1234, EXAMPLE) are not taken for keys: real ones are random. In the fields
// of a form, a space is sent as `+`.
#include "scan/tokens.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <string>

#include "scan/alphabet.h"
#include "scan/checksum.h"

namespace stile::scan {
namespace {

bool begins_a_word(std::string_view text, std::size_t at) {
  return at == 0 || !is_in(word, text[at - 1]);
}

bool is_made_up(std::string_view key) {
  std::bitset<256> seen;
  std::size_t ascending = 0;
  for (std::size_t i = 0; i < key.size(); ++i) {
    seen.set(static_cast<unsigned char>(key[i]));
    if (i > 0 && (key[i] == key[i - 1] + 1 || key[i] == key[i - 1])) ++ascending;
  }
  constexpr std::size_t fewest_characters = 7;  // 20 random digits in base 16 have 11
  return seen.count() < fewest_characters || 2 * ascending > key.size() ||
         key.find("EXAMPLE") != std::string_view::npos ||
         key.find("example") != std::string_view::npos;
}

// At least, or exactly, as many characters.
bool has_shape(std::string_view text, std::size_t at, const Shape& shape) {
  const std::size_t begin = at + shape.first.size();
  // No more than what decides is read: one beginning can follow the other.
  const std::size_t most = shape.least + (shape.ends_there ? 1 : 0);
  return run_length(text, begin, shape.alphabet, most) == shape.least &&
         !is_made_up(text.substr(begin, shape.least));
}

bool is_word_of_shape(std::string_view text, std::size_t at, const Shape& shape) {
  return begins_a_word(text, at) && has_shape(text, at, shape);
}

// OpenAI: "sk-", and this somewhere in what follows.
bool is_openai(std::string_view text, std::size_t at, const Shape& shape) {
  constexpr std::size_t most_before = 160;
  constexpr std::string_view first = "sk-";
  std::size_t begin = at;
  while (begin > 0 && at - begin < most_before && is_in(word, text[begin - 1])) --begin;
  const std::size_t found = text.substr(begin, at - begin).rfind(first);
  const Shape whole{first, shape.set, nullptr, shape.alphabet, shape.least, false};
  return found != std::string_view::npos && has_shape(text, begin + found, whole);
}

// Thirty random characters and their CRC-32 in base62.
bool has_crc32(std::string_view text, std::size_t at, const Shape& shape) {
  const std::string_view key = text.substr(std::min(at + shape.first.size(), text.size()), 36);
  return run_length(key, 0, base62, 36) == 36 && crc32_base62(key.substr(0, 30)) == key.substr(30);
}

// A name and a value: "aws_secret_access_key = …" with the usual punctuation between. The value may
// begin with `+`, too.
bool is_assigned(std::string_view text, std::size_t at, const Shape& shape) {
  const std::size_t after = at + shape.first.size(), limit = std::min(text.size(), after + 8);
  const Shape rest{"", shape.set, nullptr, shape.alphabet, shape.least, false};
  for (const std::string_view between : {" \t\"'=:>", " \t\"'=:>+"}) {
    std::size_t value = after;
    while (value < limit && between.find(text[value]) != std::string_view::npos) ++value;
    if (value > after && has_shape(text, value, rest)) return true;
  }
  return false;
}

// Telegram: the number of a bot, a colon, then this.
bool is_telegram(std::string_view text, std::size_t at, const Shape& shape) {
  std::size_t digits = 0;
  while (digits < 11 && digits < at && is_in(digit, text[at - 1 - digits])) ++digits;
  return digits >= 8 && digits <= 10 && begins_a_word(text, at - digits) &&
         has_shape(text, at, shape);
}

// xoxb-123456789012-…: the first part is a number.
bool is_slack(std::string_view text, std::size_t at, const Shape& shape) {
  const std::size_t number = at + shape.first.size();
  return run_length(text, number, digit, 14) >= 8 && has_shape(text, at, shape);
}

// 22 characters, a dot, then the rest.
bool is_sendgrid(std::string_view text, std::size_t at, const Shape& shape) {
  constexpr std::size_t first_part = 22;
  const std::size_t begin = at + shape.first.size();
  const Shape rest{".", shape.set, nullptr, shape.alphabet, shape.least, false};
  return begins_a_word(text, at) && run_length(text, begin, word, first_part + 1) == first_part &&
         begin + first_part < text.size() && text[begin + first_part] == '.' &&
         has_shape(text, begin + first_part, rest);
}

bool is_age_key(std::string_view text, std::size_t at, const Shape& shape) {
  constexpr std::size_t size = 74;
  return text.size() - at >= size && !shape.first.empty() && passes_bech32(text.substr(at, size));
}

// "-----BEGIN … PRIVATE KEY-----", perhaps with headers, then the key itself.
bool is_pem_key(std::string_view text, std::size_t at, const Shape& shape) {
  constexpr std::size_t longest_label = 40, longest_headers = 400, least_key = 48;
  std::size_t next = at + shape.first.size();
  const std::string_view label = text.substr(next, longest_label);
  const std::size_t end = label.find("-----");
  if (end == std::string_view::npos) return false;
  std::string name{label.substr(0, end)};
  std::replace(name.begin(), name.end(), '+', ' ');
  const bool is_pgp = name == "PGP PRIVATE KEY BLOCK";
  if (!is_pgp && !name.ends_with("PRIVATE KEY")) return false;
  next += end + 5;
  // Headers (RFC 1421, OpenPGP) end with an empty line; without them the key follows at once.
  const std::size_t limit = std::min(text.size(), next + longest_headers);
  std::size_t size = 0;
  for (std::size_t i = next; i < limit && size < least_key; ++i) {
    if (is_in(base62 | plus_slash, text[i])) {
      if (size == 0) next = i;
      ++size;
    } else if (!is_in(space, text[i])) {
      size = 0;
    } else if (text[i] == ' ') {
      size = size > 20 ? size : 0;  // words of a header, or lines that were joined with spaces
    }
  }
  return size >= least_key && !is_made_up(text.substr(next, least_key));
}

// "PuTTY-User-Key-File-2: …" has its private part after "Private-Lines: 14".
bool is_putty_key(std::string_view text, std::size_t at, const Shape& shape) {
  constexpr std::size_t least_key = 48;
  std::size_t next = at + shape.first.size();
  next += run_length(text, next, digit | space, 8);
  return run_length(text, next, base62 | plus_slash, least_key) == least_key;
}

constexpr std::uint16_t lower_hex = digit | lower_af;
constexpr std::uint16_t upper_digit = digit | upper;

constexpr std::array all_shapes{
    Shape{"ghp_", Set::tokens, has_crc32},  // GitHub
    Shape{"gho_", Set::tokens, has_crc32},
    Shape{"ghu_", Set::tokens, has_crc32},
    Shape{"ghs_", Set::tokens, has_crc32},
    Shape{"ghr_", Set::tokens, has_crc32},
    Shape{"github_pat_", Set::tokens, has_shape, base62 | underscore, 82},
    Shape{"npm_", Set::tokens, has_crc32},
    Shape{"glpat-", Set::tokens, has_shape, word, 20},  // GitLab
    Shape{"gldt-", Set::tokens, is_word_of_shape, word, 20},
    Shape{"glrt-", Set::tokens, is_word_of_shape, word, 20},
    Shape{"glptt-", Set::tokens, has_shape, word, 40},
    Shape{"glcbt-", Set::tokens, is_word_of_shape, word, 20},
    Shape{"glsoat-", Set::tokens, has_shape, word, 20},
    Shape{"sk-ant-", Set::tokens, has_shape, word, 86},         // Anthropic
    Shape{"T3BlbkFJ", Set::tokens, is_openai, word, 48},        // OpenAI
    Shape{"sk-or-v1-", Set::tokens, has_shape, lower_hex, 64},  // OpenRouter
    Shape{"gsk_", Set::tokens, is_word_of_shape, base62, 52},   // Groq
    Shape{"xai-", Set::tokens, is_word_of_shape, base62, 80},
    Shape{"pplx-", Set::tokens, is_word_of_shape, base62, 48},  // Perplexity
    Shape{"r8_", Set::tokens, is_word_of_shape, base62, 37},    // Replicate
    Shape{"hf_", Set::tokens, is_word_of_shape, lower | upper, 34},
    Shape{"AKIA", Set::tokens, is_word_of_shape, upper_digit, 16, true},  // AWS
    Shape{"ASIA", Set::tokens, is_word_of_shape, upper_digit, 16, true},
    Shape{"ABIA", Set::tokens, is_word_of_shape, upper_digit, 16, true},
    Shape{"aws_secret_access_key", Set::tokens, is_assigned, base62 | plus_slash, 40},
    Shape{"AWS_SECRET_ACCESS_KEY", Set::tokens, is_assigned, base62 | plus_slash, 40},
    Shape{"SecretAccessKey", Set::tokens, is_assigned, base62 | plus_slash, 40},
    Shape{"AccountKey=", Set::tokens, has_shape, base62 | plus_slash, 86, true},  // Azure
    Shape{"AIza", Set::tokens, is_word_of_shape, word, 35, true},                 // Google
    Shape{"GOCSPX-", Set::tokens, has_shape, word, 28},
    Shape{"ya29.", Set::tokens, is_word_of_shape, word, 60},
    Shape{"xoxb-", Set::tokens, is_slack, word, 40},  // Slack
    Shape{"xoxp-", Set::tokens, is_slack, word, 40},
    Shape{"xoxa-", Set::tokens, is_slack, word, 40},
    Shape{"xoxr-", Set::tokens, is_slack, word, 40},
    Shape{"xapp-1-", Set::tokens, has_shape, word, 60},
    Shape{"hooks.slack.com/services/T", Set::tokens, has_shape, base62 | plus_slash, 40},
    Shape{"sk_live_", Set::tokens, has_shape, base62, 24},  // Stripe
    Shape{"rk_live_", Set::tokens, has_shape, base62, 24},
    Shape{"pypi-AgEIcHlwaS5vcmc", Set::tokens, has_shape, word, 50},
    Shape{"pypi-AgENdGVzdC5weXBpLm9yZw", Set::tokens, has_shape, word, 50},
    Shape{"SG.", Set::tokens, is_sendgrid, word, 43},         // SendGrid
    Shape{"dop_v1_", Set::tokens, has_shape, lower_hex, 64},  // DigitalOcean
    Shape{"doo_v1_", Set::tokens, has_shape, lower_hex, 64},
    Shape{"shpat_", Set::tokens, has_shape, hex, 32},  // Shopify
    Shape{"shpca_", Set::tokens, has_shape, hex, 32},
    Shape{"shppa_", Set::tokens, has_shape, hex, 32},
    Shape{"lin_api_", Set::tokens, has_shape, base62, 40},    // Linear
    Shape{"figd_", Set::tokens, is_word_of_shape, word, 40},  // Figma
    Shape{"ATATT3xFfGF0", Set::tokens, has_shape, word, 160},
    Shape{"dapi", Set::tokens, is_word_of_shape, lower_hex, 32, true},  // Databricks
    Shape{"hvs.", Set::tokens, is_word_of_shape, word, 24},             // Vault
    Shape{"hvb.", Set::tokens, is_word_of_shape, word, 100},
    Shape{".atlasv1.", Set::tokens, has_shape, word, 60},  // Terraform
    Shape{"dckr_pat_", Set::tokens, has_shape, word, 27},  // Docker
    Shape{"rubygems_", Set::tokens, has_shape, lower_hex, 48},
    Shape{"glsa_", Set::tokens, is_word_of_shape, base62 | underscore, 41},  // Grafana
    Shape{"sbp_", Set::tokens, is_word_of_shape, lower_hex, 40},             // Supabase
    Shape{"tskey-auth-", Set::tokens, has_shape, word, 40},                  // Tailscale
    Shape{"tskey-api-", Set::tokens, has_shape, word, 40},
    Shape{":AA", Set::tokens, is_telegram, word, 33, true},
    Shape{"-----BEGIN ", Set::private_keys, is_pem_key},
    Shape{"-----BEGIN+", Set::private_keys, is_pem_key},
    Shape{"Private-Lines: ", Set::private_keys, is_putty_key},
    Shape{"Private-Lines:+", Set::private_keys, is_putty_key},
    Shape{"AGE-SECRET-KEY-1", Set::private_keys, is_age_key},
};

}  // namespace

std::string_view text(Set set) noexcept {
  constexpr std::array<std::string_view, set_count> names{"tokens", "private-keys", "payment",
                                                          "wallets"};
  return names[static_cast<std::size_t>(set)];
}

std::span<const Shape> shapes() noexcept { return all_shapes; }

}  // namespace stile::scan
