// Samples: keys that are made here, and ways to encode them.
#include "samples.h"

#include <zlib.h>

#include <algorithm>
#include <random>

#include "base/ascii.h"
#include "base/base64.h"
#include "scan/checksum.h"

namespace stile::scan::samples {

std::string random_text(std::size_t size, unsigned seed, std::string_view alphabet) {
  std::mt19937 numbers{seed};
  std::string text;
  while (text.size() < size) text += alphabet[numbers() % alphabet.size()];
  return text;
}

std::string random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 numbers{seed};
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(numbers());
  return bytes;
}

namespace {

std::string with_crc32(const std::string& first, unsigned seed) {
  const std::string random = random_text(30, seed);
  return first + random + crc32_base62(random);
}

}  // namespace

std::vector<Sample> tokens() {
  const std::string hex_of_64 = random_text(64, 3, lower_hex_digits);
  return {
      {"GitHub personal", with_crc32("ghp_", 1)},
      {"GitHub OAuth", with_crc32("gho_", 2)},
      {"GitHub user to server", with_crc32("ghu_", 3)},
      {"GitHub server to server", with_crc32("ghs_", 4)},
      {"GitHub refresh", with_crc32("ghr_", 5)},
      {"GitHub fine-grained", "github_pat_" + random_text(22, 6) + "_" + random_text(59, 7)},
      {"npm", with_crc32("npm_", 8)},
      {"GitLab personal", "glpat-" + random_text(20, 9)},
      {"GitLab deploy", "gldt-" + random_text(20, 10)},
      {"GitLab runner", "glrt-" + random_text(20, 11)},
      {"Anthropic", "sk-ant-api03-" + random_text(93, 12) + "AA"},
      {"OpenAI", "sk-" + random_text(20, 13) + "T3BlbkFJ" + random_text(20, 14)},
      {"OpenAI project", "sk-proj-" + random_text(74, 15) + "T3BlbkFJ" + random_text(74, 16)},
      {"OpenRouter", "sk-or-v1-" + hex_of_64},
      {"Groq", "gsk_" + random_text(52, 17)},
      {"xAI", "xai-" + random_text(80, 18)},
      {"Perplexity", "pplx-" + random_text(48, 19)},
      {"Replicate", "r8_" + random_text(37, 20)},
      {"Hugging Face", "hf_" + random_text(34, 21, letters_and_digits.substr(10))},
      {"AWS key id", "AKIA" + random_text(16, 22, capitals_and_digits)},
      {"AWS session", "ASIA" + random_text(16, 23, capitals_and_digits)},
      {"AWS secret in a file", "aws_secret_access_key = " + random_text(40, 24)},
      {"AWS secret in a variable", "AWS_SECRET_ACCESS_KEY=\"" + random_text(40, 25) + '"'},
      {"Azure storage", "AccountKey=" + random_text(86, 26) + "=="},
      {"Google", "AIza" + random_text(35, 27)},
      {"Google client", "GOCSPX-" + random_text(28, 28)},
      {"Google access", "ya29." + random_text(120, 29)},
      {"Slack bot", "xoxb-123456789012-9876543210987-" + random_text(24, 30)},
      {"Slack app", "xapp-1-A" + random_text(10, 31) + "-1234567890123-" + random_text(64, 32)},
      {"Slack hook", "https://hooks.slack.com/services/T" + random_text(8, 33) + "/B" +
                         random_text(10, 34) + "/" + random_text(24, 35)},
      {"Stripe", "sk_live_" + random_text(24, 36)},
      {"Stripe restricted", "rk_live_" + random_text(24, 37)},
      {"PyPI", "pypi-AgEIcHlwaS5vcmc" + random_text(120, 38)},
      {"SendGrid", "SG." + random_text(22, 39) + "." + random_text(43, 40)},
      {"DigitalOcean", "dop_v1_" + hex_of_64},
      {"Shopify", "shpat_" + random_text(32, 41, lower_hex_digits)},
      {"Linear", "lin_api_" + random_text(40, 42)},
      {"Figma", "figd_" + random_text(40, 43)},
      {"Atlassian", "ATATT3xFfGF0" + random_text(170, 44)},
      {"Databricks", "dapi" + random_text(32, 45, lower_hex_digits)},
      {"Vault", "hvs." + random_text(90, 46)},
      {"Terraform", random_text(14, 47) + ".atlasv1." + random_text(67, 48)},
      {"Docker", "dckr_pat_" + random_text(27, 49)},
      {"RubyGems", "rubygems_" + random_text(48, 50, lower_hex_digits)},
      {"Grafana", "glsa_" + random_text(32, 51) + "_" + random_text(8, 52, lower_hex_digits)},
      {"Supabase", "sbp_" + random_text(40, 53, lower_hex_digits)},
      {"Tailscale", "tskey-auth-" + random_text(17, 54) + "-" + random_text(32, 55)},
      {"Telegram", "123456789:AA" + random_text(33, 56)},
  };
}

std::vector<Sample> private_keys() {
  const auto pem = [](const std::string& label, const std::string& headers, unsigned seed) {
    std::string text = "-----BEGIN " + label + "-----\n" + headers;
    for (unsigned line = 0; line < 4; ++line) text += random_text(64, seed + line) + '\n';
    return text + "-----END " + label + "-----\n";
  };
  std::string in_one_line = pem("PRIVATE KEY", "", 7);
  std::replace(in_one_line.begin(), in_one_line.end(), '\n', ' ');
  return {
      {"PKCS 8", pem("PRIVATE KEY", "", 1)},
      {"PKCS 1", pem("RSA PRIVATE KEY", "", 2)},
      {"EC", pem("EC PRIVATE KEY", "", 3)},
      {"OpenSSH", pem("OPENSSH PRIVATE KEY", "", 4)},
      {"PKCS 1, encrypted",
       pem("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123ABCD\n\n", 5)},
      {"OpenPGP", pem("PGP PRIVATE KEY BLOCK", "Version: GnuPG v2\n\n", 6)},
      {"in one line", in_one_line},
      {"PuTTY", "Private-Lines: 8\n" + random_text(64, 8) + '\n' + random_text(64, 9)},
  };
}

std::string hex_of(std::string_view text, bool upper) {
  std::string out;
  for (const char c : text) append_hex(out, static_cast<unsigned char>(c));
  if (upper) {
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
  }
  return out;
}

std::string percent(std::string_view text, bool all) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z');
    if (is_plain && !all) {
      out += c;
    } else {
      out += '%' + hex_of({&c, 1}, true);
    }
  }
  return out;
}

std::string json_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += "\\u00" + hex_of({&c, 1});
  return out;
}

std::string url_base64(std::string_view text) {
  std::string out = base64(text);
  while (out.ends_with('=')) out.pop_back();
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

namespace {

std::string deflated(std::string_view text, int window_bits) {
  z_stream stream{};
  ::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(::deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  ::deflateEnd(&stream);
  return out;
}

}  // namespace

std::string gzip(std::string_view text) { return deflated(text, 16 + MAX_WBITS); }
std::string zlib(std::string_view text) { return deflated(text, MAX_WBITS); }
std::string raw_deflate(std::string_view text) { return deflated(text, -MAX_WBITS); }

std::shared_ptr<const Texts> texts_of(std::vector<Scan> scans) {
  return Watch{*ScanRules::compile(std::move(scans)), {}, {}}.texts();
}

std::string found_in(const std::shared_ptr<const Texts>& texts, std::string_view text) {
  Search search{texts};
  search.feed(text, Search::More::no);
  return texts->rules().names(search.found()) + (search.is_too_dense() ? "(too dense)" : "");
}

const std::shared_ptr<const Texts>& all_sets() {
  static const auto texts = texts_of({{"tokens", "", ScanAction::refuse},
                                      {"private-keys", "", ScanAction::refuse},
                                      {"payment", "", ScanAction::refuse},
                                      {"wallets", "", ScanAction::refuse}});
  return texts;
}

}  // namespace stile::scan::samples
