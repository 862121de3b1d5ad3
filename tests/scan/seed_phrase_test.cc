// Seed phrases: those with a right checksum are found, English and documentation pass.
#include "scan/seed_phrase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/base64.h"
#include "base/sha256.h"
#include "samples.h"
#include "scan/seed_words.h"

namespace stile::scan {
namespace {

// In parts of any size the same is found as in one.
bool has_seed_phrase(std::string_view text, SeedWork* work = nullptr) {
  SeedPhrases whole{text}, parts{text};
  const bool found = whole.look_up_to(text.size());
  bool found_in_parts = false;
  for (std::size_t to = 0; to <= text.size() && !found_in_parts; ++to) {
    found_in_parts = parts.look_up_to(to);
  }
  EXPECT_EQ(found_in_parts, found) << text;
  if (work != nullptr) *work = whole.work();
  return found;
}

using namespace samples;

// Made for these tests from random bytes, by the steps of BIP 39: no wallet has them.
const std::vector<std::string>& phrases() {
  static const std::vector<std::string> all{
      "laptop soccer kangaroo trumpet moon fatal portion never stand brave "
      "medal hair",
      "promote bullet sting brown liberty another cool crucial argue broom "
      "tuition lens",
      "twist snack donkey spare sure broken jar inform genre coyote kiss "
      "pause tilt spider winner",
      "remember before jelly neglect asthma about there cupboard demise "
      "owner horror wife lawsuit bitter clutch board rare host",
      "waste case dice gossip curve elevator exhaust milk donate fantasy "
      "attitude sustain park more lady ankle demand debate mother fish gas",
      "festival city faint rate lazy unit surround sleep volume sport lava "
      "situate glad grief garbage mean wasp best crush wear above cloud wash "
      "patrol",
  };
  return all;
}

TEST(SeedWords, AreTheListOfBip39) {
  Sha256 hash;
  EXPECT_EQ(hash_text(hash.hash(seed_words)),
            "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda");
  EXPECT_EQ(seed_word("abandon"), 0);
  EXPECT_EQ(seed_word("ZOO"), 2047);
  EXPECT_EQ(seed_word("Letter"), 1028);
  for (const std::string_view word : {"", "a", "abandons", "abando", "zzz", "zo", "ab-ndon"}) {
    EXPECT_FALSE(seed_word(word)) << word;
  }
}

TEST(SeedPhrases, AreFoundInEverySizeWithAnyWhiteSpace) {
  for (const std::string& phrase : phrases()) {
    EXPECT_TRUE(has_seed_phrase(phrase)) << phrase;
    EXPECT_TRUE(has_seed_phrase("my wallet's seed phrase: " + phrase + ". Keep it!")) << phrase;
    EXPECT_TRUE(has_seed_phrase("seed phrase " + phrase + " wallet")) << phrase;
    EXPECT_TRUE(has_seed_phrase("{\"mnemonic\":\"" + phrase + "\"}")) << phrase;
    std::string spaced, upper;
    for (const char c : phrase) {
      spaced += c == ' ' ? "\r\n\t  " : std::string{c};
      upper += c == ' ' ? c : static_cast<char>(c - 'a' + 'A');
    }
    EXPECT_TRUE(has_seed_phrase(spaced)) << spaced;
    EXPECT_TRUE(has_seed_phrase(upper)) << upper;
    EXPECT_EQ(found_in(all_sets(), base64(phrase)), "wallets") << phrase;
  }
}

TEST(SeedPhrases, ACutPhraseOrAWrongWordIsNone) {
  for (const std::string& phrase : phrases()) {
    EXPECT_FALSE(has_seed_phrase(phrase.substr(0, phrase.rfind(' ')))) << phrase;
    const std::size_t second = phrase.find(' ');
    const std::string swapped = phrase.substr(second + 1) + ' ' + phrase.substr(0, second);
    EXPECT_FALSE(has_seed_phrase(swapped)) << swapped;
    EXPECT_FALSE(has_seed_phrase("x" + phrase)) << phrase;
    std::string listed = phrase;
    std::replace(listed.begin(), listed.end(), ' ', ',');
    EXPECT_FALSE(has_seed_phrase(listed)) << listed;
  }
}

TEST(SeedPhrases, OfDocumentationAndEnglishPass) {
  for (const std::string_view text : {
           "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon "
           "abandon "
           "about",
           "legal winner thank year wave sausage worth useful legal winner thank yellow",
           "letter advice cage absurd amount doctor acoustic avoid letter advice cage above",
           "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong",
           "test test test test test test test test test test test junk",
           "It was the best of times, it was the worst of times, it was the age of wisdom, it was "
           "the age of foolishness, it was the epoch of belief, it was the epoch of incredulity",
           "update table tool list file open ride run output build code test check install script",
       }) {
    EXPECT_FALSE(has_seed_phrase(text)) << text;
  }
  EXPECT_FALSE(has_seed_phrase(seed_words)) << "the list itself";
  EXPECT_FALSE(has_seed_phrase(seed_words.substr(0, seed_words.find("account")))) << "a part of it";
}

std::vector<std::string> some_words(std::size_t count, unsigned seed, std::size_t from = 2048) {
  std::vector<std::string> list;
  for (std::size_t at = 0; list.size() < seed_word_count; at = seed_words.find('\n', at) + 1) {
    list.emplace_back(seed_words.substr(at, seed_words.find('\n', at) - at));
  }
  std::mt19937 random{seed};
  std::vector<std::string> drawn(count);
  for (auto& word : drawn) word = list[random() % from];
  return drawn;
}

std::string in_runs_of(std::size_t size, const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += words[i] + (i % size + 1 == size ? " , " : " ");
  }
  return text;
}

// Texts of list words only, in runs as long as are looked at, with many and few repeated words.
TEST(SeedPhrases, AWordCostsAFixedNumberOfSteps) {
  constexpr std::size_t most_steps = 2 * 5;  // into and out of one window for each size
  for (const std::size_t run : {12U, 24U, 40U}) {
    for (const std::size_t from : {1U, 2U, 30U, 2048U}) {
      for (const std::size_t count : {1000U, 2000U, 16000U}) {
        const std::string text = in_runs_of(run, some_words(count, 7, from));
        SeedWork work;
        static_cast<void>(has_seed_phrase(text, &work));
        EXPECT_LE(work.steps, work.words * most_steps) << run << " of " << from;
        EXPECT_LE(work.words, count);
        EXPECT_LE(work.checks, 128 + text.size() / 64);
      }
    }
  }
}

// By the plain way: sort the words of each window.
TEST(SeedPhrases, AreThoseOfEachWindowOnItsOwn) {
  const auto is_random = [](const std::vector<std::string>& words) {
    auto sorted = words;
    std::sort(sorted.begin(), sorted.end());
    if (sorted == words) return false;
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    return sorted.size() * 4 > words.size() * 3;
  };
  for (unsigned seed = 0; seed < 300; ++seed) {
    // Few words, so that some windows repeat too many; short runs, so that all are checked.
    const auto words = some_words(12 + seed % 9, seed, 8 + seed % 40);
    std::size_t windows = 0;
    for (const std::size_t size : {12U, 15U, 18U}) {
      for (std::size_t at = 0; at + size <= words.size(); ++at) {
        const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
        windows += is_random({begin, begin + static_cast<std::ptrdiff_t>(size)});
      }
    }
    SeedWork work;
    const bool found = has_seed_phrase(in_runs_of(40, words), &work);
    EXPECT_LE(work.checks, windows) << seed;
    EXPECT_TRUE(found || work.checks == windows) << seed;
    SeedWork again;
    EXPECT_EQ(has_seed_phrase(in_runs_of(40, words), &again), found) << "nothing is left over";
    EXPECT_EQ(again.checks, work.checks) << seed;
  }
}

TEST(SeedPhrases, AreFoundOverTheEndOfAPiece) {
  for (const std::string& phrase : phrases()) {
    for (std::size_t at = 0; at <= phrase.size(); ++at) {
      Search search{all_sets()};
      search.feed(phrase.substr(0, at));
      search.feed(phrase.substr(at), Search::More::no);
      EXPECT_NE(search.found(), Found{0}) << phrase << " at " << at;
    }
  }
}

}  // namespace
}  // namespace stile::scan
