// What scans find: every shape, in every encoding, and several encodings one in the other.
#include <gtest/gtest.h>

#include "base/base64.h"
#include "samples.h"

namespace stile::scan {
namespace {

using namespace samples;

std::string in_lines(const std::string& text, std::size_t size = 76,
                     const std::string& line_break = "\r\n") {
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += size) out += text.substr(i, size) + line_break;
  return out;
}

struct Encoding {
  std::string name;
  std::string (*encode)(const std::string&);
};

const std::vector<Encoding>& encodings() {
  using S = const std::string&;
  static const std::vector<Encoding> all{
      {"as it is", [](S s) { return s; }},
      {"in a sentence", [](S s) { return "Please use " + s + ", thanks."; }},
      {"in JSON", [](S s) { return R"({"key":")" + s + R"(","n":1})"; }},
      {"in a query", [](S s) { return "/search?q=" + s + "&page=2"; }},
      {"in a path", [](S s) { return "/a/" + s + "/b"; }},
      {"percent where needed", [](S s) { return "q=" + percent(s, false); }},
      {"in a field of a form",
       [](S s) {
         std::string field = percent(s, false);
         for (std::size_t at = 0; (at = field.find("%20", at)) != std::string::npos;) {
           field.replace(at, 3, "+");
         }
         return "a=1&b=" + field + "&c=2";
       }},
      {"percent, all of it", [](S s) { return percent(s, true); }},
      {"percent twice", [](S s) { return percent(percent(s, true), true); }},
      {"percent three times", [](S s) { return percent(percent(percent(s, true), true), true); }},
      {"escapes of JSON", [](S s) { return json_escaped(s); }},
      {"JSON in JSON", [](S s) { return R"({"a":"{\"b\":\")" + s + R"(\"}"})"; }},
      {"base64", [](S s) { return base64(s); }},
      {"base64 of a file", [](S s) { return base64("A=1\nB=22\nKEY=" + s + "\nC=3\n"); }},
      {"base64 of a long file",
       [](S s) { return base64(std::string(9000, 'x') + "\n" + s + "\n"); }},
      {"base64 for URLs", [](S s) { return url_base64(s); }},
      {"base64 as a field", [](S s) { return "Basic " + base64("user:" + s); }},
      {"base64 behind a slash", [](S s) { return "/x/" + url_base64(s); }},
      {"base64 behind three characters", [](S s) { return "abc" + url_base64(s); }},
      {"long base64 behind one character",
       [](S s) { return "a" + url_base64(std::string(700, 'x') + ' ' + s + "!"); }},
      {"long base64 in a path",
       [](S s) { return "/v1/objects/" + url_base64(std::string(702, 'x') + ' ' + s + "!"); }},
      {"base64 in lines", [](S s) { return in_lines(base64("some text before " + s)); }},
      {"base64 in indented lines",
       [](S s) {
         return "data: |\n    " + in_lines(base64("some text before " + s), 64, "\n    ");
       }},
      {"base64 in short lines", [](S s) { return in_lines(base64("some text " + s), 24, "\n"); }},
      {"base64 in lines of an old system",
       [](S s) { return in_lines(base64("some text before " + s), 64, " \r"); }},
      {"base64 in lines in JSON",
       [](S s) { return '"' + in_lines(base64("some text before " + s), 64, R"(\r\n)") + '"'; }},
      {"hexadecimal in lines", [](S s) { return in_lines(hex_of("some text " + s), 40, "\n"); }},
      {"base64 with escaped slashes",
       [](S s) {
         std::string out;
         for (const char c : base64(s)) out += c == '/' ? std::string{"\\/"} : std::string{c};
         return out;
       }},
      {"base64, percent-encoded", [](S s) { return percent(base64(s), false); }},
      {"base64 twice", [](S s) { return base64(base64(s)); }},
      {"base64 in a path in base64", [](S s) { return base64("/v1/x/" + url_base64(s)); }},
      {"base64 behind a letter, three times",
       [](S s) { return base64("a" + base64("ab" + base64(s))); }},
      {"hexadecimal behind a digit in base64", [](S s) { return base64("1" + hex_of(s)); }},
      {"base64 three times", [](S s) { return base64(base64(base64(s))); }},
      {"hexadecimal", [](S s) { return hex_of(s); }},
      {"hexadecimal in capitals", [](S s) { return hex_of(s, true); }},
      {"hexadecimal in a path", [](S s) { return "/v1/objects/" + hex_of(s) + "/x"; }},
      {"hexadecimal behind 0x", [](S s) { return "0x" + hex_of(s); }},
      {"hexadecimal behind a name", [](S s) { return "id-" + hex_of(s) + "_end"; }},
      {"hexadecimal behind one digit", [](S s) { return "x/a" + hex_of(s); }},
      {"hexadecimal in base64", [](S s) { return base64(hex_of(s)); }},
      {"base64 in hexadecimal", [](S s) { return hex_of(base64(s)); }},
      {"\\x escapes",
       [](S s) {
         std::string out;
         for (const char c : s) out += "\\x" + hex_of({&c, 1});
         return out;
       }},
      {"gzip", [](S s) { return gzip("some text\n" + s); }},
      {"gzip twice", [](S s) { return gzip(gzip(s)); }},
      {"two members of gzip", [](S s) { return gzip("first ") + gzip(s); }},
      {"gzip in base64", [](S s) { return "data:" + base64(gzip(s)); }},
      {"gzip in a form",
       [](S s) { return "--b\r\nContent-Type: x\r\n\r\n" + gzip(s) + "\r\n--b--\r\n"; }},
      {"a second file of gzip",
       [](S s) { return "--b\r\n" + gzip("first") + "\r\n--b\r\n" + gzip(s) + "\r\n--b--"; }},
      {"gzip behind what looks like it",
       [](S s) { return std::string{"\x1f\x8b\x08\x00 x \x1f\x8b\x08"} + gzip(s); }},
      {"gzip in gzip in base64", [](S s) { return base64(gzip(gzip(s))); }},
      {"the ninth gzip in base64",
       [](S s) {
         std::string all;
         for (int i = 0; i < 8; ++i) all += gzip("file") + "\n";
         return base64(all + gzip(s));
       }},
      {"base64 in gzip", [](S s) { return gzip(base64(s)); }},
  };
  return all;
}

TEST(ScanFinds, EveryTokenInEveryEncoding) {
  for (const auto& token : tokens()) {
    for (const auto& encoding : encodings()) {
      EXPECT_EQ(found_in(all_sets(), encoding.encode(token.text)), "tokens")
          << token.name << ", " << encoding.name;
    }
  }
}

TEST(ScanFinds, EveryPrivateKeyInEveryEncoding) {
  for (const auto& key : private_keys()) {
    for (const auto& encoding : encodings()) {
      EXPECT_EQ(found_in(all_sets(), encoding.encode(key.text)), "private-keys")
          << key.name << ", " << encoding.name;
    }
  }
}

TEST(ScanFinds, NumbersAndPhrasesInAForm) {
  EXPECT_EQ(found_in(all_sets(), "a=1&card=4539+5787+6362+1486&b=2"), "payment");
  EXPECT_EQ(found_in(all_sets(), "a=1&iban=DE75+5121+0800+1245+1261+99&b=2"), "payment");
  EXPECT_EQ(found_in(all_sets(),
                     "a=1&phrase=laptop+soccer+kangaroo+trumpet+moon+fatal+portion+"
                     "never+stand+brave+medal+hair&b=2"),
            "wallets");
}

// Each line may be a text of its own.
TEST(ScanFinds, ATextInEachLine) {
  const std::string token = tokens()[19].text;  // begins with a word, as many do
  for (const std::string line_break : {"\n", "\r\n", "\n  ", " \n", "\r"}) {
    const std::string other = url_base64("some other text of 44 characters, or so"),
                      lines = other + line_break + url_base64(token) + line_break + other;
    EXPECT_EQ(found_in(all_sets(), lines), "tokens") << lines;
    EXPECT_EQ(found_in(all_sets(), base64(lines)), "tokens") << lines;
  }
}

TEST(ScanFinds, OnlyWhatWasAskedFor) {
  const auto keys_only = texts_of({{"private-keys", "", ScanAction::refuse}});
  EXPECT_EQ(found_in(keys_only, tokens()[0].text), "");
  EXPECT_EQ(found_in(keys_only, private_keys()[0].text), "private-keys");
}

TEST(ScanFinds, SeveralThings) {
  EXPECT_EQ(found_in(all_sets(), tokens()[0].text + "\n" + private_keys()[0].text),
            "tokens,private-keys");
}

TEST(ScanFinds, OwnExpressionsInEveryEncoding) {
  const auto own = texts_of({{"internal-host", R"(corp\.example)", ScanAction::refuse},
                             {"project", "(?i)project bluebird", ScanAction::log}});
  for (const auto& encoding : encodings()) {
    EXPECT_EQ(found_in(own, encoding.encode("https://wiki.corp.example/page")), "internal-host")
        << encoding.name;
  }
  EXPECT_EQ(found_in(own, "about Project Bluebird at corp.example"), "internal-host,project");
  EXPECT_EQ(found_in(own, "corp-example"), "");
}

}  // namespace
}  // namespace stile::scan
