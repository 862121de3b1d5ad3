// What scans must not find: everyday traffic. A false alarm is a defect.
#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/sha256.h"
#include "samples.h"

namespace stile::scan {
namespace {

using namespace samples;

// Ordinary things, as requests of coding agents carry them.
const std::vector<Sample>& clean() {
  static const std::vector<Sample> all{
      {"SHA-1", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
      {"SHA-256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"SHA-512 in base64", "sha512-" + base64(random_bytes(64, 1))},
      {"MD5", "d41d8cd98f00b204e9800998ecf8427e"},
      {"a UUID", "123e4567-e89b-42d3-a456-426614174000"},
      {"a UUID of digits", "41111111-1111-4111-8111-111111111111"},
      {"a ULID", "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
      {"an id of MongoDB", "507f1f77bcf86cd799439011"},
      {"a git object line", "commit 8f6e1f4a2b0c9d7e5f3a1b2c4d6e8f0a1b3c5d7e"},
      {"an example of AWS", "AKIAIOSFODNN7EXAMPLE"},
      {"a secret of AWS's docs",
       "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
      {"a token of x", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
      {"a token without its checksum", "ghp_" + random_text(36, 2)},
      {"a GitLab token of x", "glpat-xxxxxxxxxxxxxxxxxxxx"},
      {"a GitLab token of digits", "glpat-12345678901234567890"},
      {"an Anthropic key of x", "sk-ant-api03-" + std::string(93, 'X') + "AA"},
      {"the name of a key", "export ANTHROPIC_API_KEY=sk-ant-your-key-here"},
      {"an OpenAI key of x", "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
      {"Stripe's test key", "sk_test_4eC39HqLyjWDarjtT1zdp7dc"},
      {"a Stripe live key of x", "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx"},
      {"a Slack token of docs", "xoxb-your-token"},
      {"a Google key of docs", "AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX"},
      {"a Hugging Face key of docs", "hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
      {"a public key",
       "-----BEGIN PUBLIC KEY-----\n" + random_text(64, 3) + "\n-----END PUBLIC KEY-----"},
      {"a certificate", "-----BEGIN CERTIFICATE-----\n" + random_text(64, 4) + "\n" +
                            random_text(64, 5) + "\n-----END CERTIFICATE-----"},
      {"a private key left out", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"},
      {"the words of a private key", "grep -r 'BEGIN RSA PRIVATE KEY-----' . | wc -l"},
      {"code that reads keys", "if line == \"-----BEGIN PRIVATE KEY-----\" { return parse(line) }"},
      {"an SSH public key",
       "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + random_text(43, 6) + " me@host"},
      {"a JWT of the docs",
       "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0."
       "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"},
      {"Stripe's test card", "4242 4242 4242 4242"},
      {"the card of all docs", "4111111111111111"},
      {"the card of Amex docs", "3782-822463-10005"},
      {"a card with a wrong digit", "4539578763621487"},
      {"sixteen digits without a network", "1234567812345670"},
      {"a fraction", "0.4539578763621486"},
      {"a coordinate", "-73.4539578763621486"},
      {"nanoseconds", "1700000000000000000"},
      {"milliseconds", "1700000000000"},
      {"a snowflake", "1234567890123456789"},
      {"a phone number", "+49 89 1234 5678 90"},
      {"a date", "2026-11-18 02:45:11"},
      {"an ISBN", "978-3-16-148410-0"},
      {"a serial number", "SN-4539-5787-6362-1486-A"},
      {"an IBAN of docs", "DE89 3704 0044 0532 0130 00"},
      {"an IBAN with a wrong digit", "DE75512108001245126198"},
      {"words in capitals", "SE2024REVISEDEDITIONABCDEF"},
      {"an address of Ethereum in one case", "0x52908400098527886e0f7030069857d2e4169ee7"},
      {"a hash of Ethereum", "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060"},
      {"a Bitcoin address with a wrong letter", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"},
      {"a Bech32 address with a wrong letter", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"},
      {"a CID of IPFS", "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG"},
      {"a Solana-like name",
       random_text(44, 7, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")},
      {"package-lock.json",
       R"("node_modules/@babel/core":{"version":"7.24.0","resolved":"https://registry.npmjs.org/@babel/core/-/core-7.24.0.tgz","integrity":"sha512-)" +
           base64(random_bytes(64, 8)) + R"("})"},
      {"go.sum", "golang.org/x/sys v0.18.0 h1:" + base64(random_bytes(32, 9))},
      {"Cargo.lock", "checksum = \"" + random_text(64, 10, lower_hex_digits) + '"'},
      {"poetry.lock", "{file = \"a-1.0-py3-none-any.whl\", hash = \"sha256:" +
                          random_text(64, 11, lower_hex_digits) + "\"}"},
      {"requirements with hashes",
       "flask==3.0.0 --hash=sha256:" + random_text(64, 12, lower_hex_digits)},
      {"yarn.lock", "resolved \"https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#" +
                        random_text(40, 13, lower_hex_digits) + '"'},
      {"an image in a data URL",
       "data:image/png;base64,iVBORw0KGgo" + base64(random_bytes(60000, 14))},
      {"an image in base64 for URLs", url_base64(random_bytes(60000, 15))},
      {"a font", random_bytes(60000, 16)},
      {"an archive", gzip(random_text(100000, 17, "abcdefgh \n"))},
      {"hexadecimal bytes", random_text(60000, 18, lower_hex_digits)},
      {"many UUIDs",
       [] {
         std::string out;
         for (unsigned i = 0; i < 500; ++i) {
           const std::string d = random_text(32, i, lower_hex_digits);
           out += d.substr(0, 8) + '-' + d.substr(8, 4) + '-' + d.substr(12, 4) + '-' +
                  d.substr(16, 4) + '-' + d.substr(20) + '\n';
         }
         return out;
       }()},
      {"many hashes",
       [] {
         std::string out;
         for (unsigned i = 0; i < 500; ++i) {
           out += std::string{hash_text(Sha256{}.hash(std::to_string(i)))} + "  file\n";
         }
         return out;
       }()},
      {"minified code",
       "!function(e,t){\"object\"==typeof "
       "exports?module.exports=t():e.hf_=t()}(this,function(){var "
       "sk=1,n=e[\"sk-\"+t],r8_=0;return/^(?:ghp_|npm_|AKIA)[A-Za-z0-9]+$/"
       ".test(n)||SG.a.b.c(n)});"},
      {"a regular expression for tokens", R"(/(ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{36}/)"},
      {"a list of prefixes",
       "AKIA ASIA AIza ghp_ glpat- sk-ant- xoxb- npm_ pypi- hf_ dapi hvs. SG."},
      {"a stack trace",
       "at Object.<anonymous> (/home/u/app/node_modules/tap/lib/index.js:4539:5787)"},
      {"a long path", "/usr/lib/python3/dist-packages/cryptography/hazmat/bindings/_rust/abi3"},
      {"class names",
       "com.example.project.infrastructure.persistence.AbstractEntityRepositoryFactory"},
      {"CSS", ".btn-primary-large__task-disk-risk-ask{margin:0 4111px;color:#4539578}"},
      {"a prompt",
       "Write a function that checks card numbers with Luhn, e.g. 4242 4242 4242 4242, "
       "and rejects 4242 4242 4242 4241."},
      {"JSON with escapes", R"({"text":"line one\nline two\t\"quoted\" \\ 100% of it \u00e9"})"},
      {"a form", "name=J%C3%B6rg+Test&city=M%C3%BCnchen&note=100%25+sure"},
      {"a multipart border", "------WebKitFormBoundary7MA4YWxkTrZu0gW"},
      {"a trace id", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
      {"an ETag", "W/\"" + random_text(27, 19) + "\""},
      {"a cookie", "_ga=GA1.2.1234567890.1700000000; session=" + url_base64(random_bytes(32, 20))},
      {"a user agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"},
      {"a docker digest", "sha256:" + random_text(64, 21, lower_hex_digits)},
      {"a version list", "1.2.3-beta.4+build.4539.5787.6362.1486"},
      {"a table of numbers",
       [] {
         std::string out;
         for (unsigned i = 0; i < 400; ++i)
           out += std::to_string(1000 + i) + (i % 20 == 19 ? "\n" : "\t");
         return out;
       }()},
      {"a CSV of ids",
       [] {
         std::string out;
         for (unsigned i = 0; i < 300; ++i)
           out += std::to_string(100000000000ULL + i * 7919) + ",\n";
         return out;
       }()},
  };
  return all;
}

TEST(ScanPasses, EverydayTraffic) {
  for (const auto& sample : clean()) {
    EXPECT_EQ(found_in(all_sets(), sample.text), "") << sample.name;
  }
}

TEST(ScanPasses, EverydayTrafficInJson) {
  for (const auto& sample : clean()) {
    EXPECT_EQ(found_in(all_sets(), R"({"content":")" + json_escaped(sample.text) + R"("})"), "")
        << sample.name;
  }
}

TEST(ScanPasses, EverydayTrafficInBase64) {
  for (const auto& sample : clean()) {
    EXPECT_EQ(found_in(all_sets(), base64(sample.text)), "") << sample.name;
  }
}

// Megabytes of each.
TEST(ScanPasses, RandomData) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    const std::string bytes = random_bytes(768 * 1024, 1000 + seed);
    EXPECT_EQ(found_in(all_sets(), bytes), "") << seed;
    EXPECT_EQ(found_in(all_sets(), base64(bytes)), "") << seed;
    EXPECT_EQ(found_in(all_sets(), url_base64(bytes)), "") << seed;
    EXPECT_EQ(found_in(all_sets(), hex_of(bytes)), "") << seed;
  }
}

}  // namespace
}  // namespace stile::scan
