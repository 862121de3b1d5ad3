// Seed phrases of wallets: runs of words of the list, then the checksum.
#include "scan/seed_phrase.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "base/ascii.h"
#include "base/sha256.h"
#include "scan/alphabet.h"
#include "scan/seed_words.h"
#include "scan/stretch.h"

namespace stile::scan {
namespace {

constexpr std::size_t shortest_word = 3, longest_word = 8;
constexpr unsigned word_bits = 11;
constexpr std::array<std::size_t, 5> phrase_sizes{12, 15, 18, 21, 24};
// A longer run is a list of words. In 400 MB of documentation and code the longest run had 11.
constexpr std::size_t longest_run = 40;
// Checksums that are computed: these, and one for so many bytes of the text.
constexpr std::size_t least_checks = 128, bytes_per_check = 64;
constexpr std::uint16_t letters = lower | upper;
constexpr CharSet letters_and_space{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz \t\r\n+"};

// The list as numbers that have its order, and where the words with each two first letters begin.
class WordList {
 public:
  WordList() {
    std::size_t at = 0, bucket = 0;
    for (std::size_t i = 0; i < seed_word_count; ++i) {
      const std::size_t end = seed_words.find('\n', at);
      const std::string_view word = seed_words.substr(at, end - at);
      words_[i] = number_of(word);
      for (; bucket <= bucket_of(word); ++bucket) begins_[bucket] = static_cast<std::uint16_t>(i);
      at = end + 1;
    }
    for (; bucket < begins_.size(); ++bucket) begins_[bucket] = seed_word_count;
  }

  [[nodiscard]] std::optional<std::uint16_t> find(std::string_view lower_case_word) const {
    const std::size_t bucket = bucket_of(lower_case_word);
    const auto first = words_.begin() + begins_[bucket],
               last = words_.begin() + begins_[bucket + 1];
    const std::uint64_t number = number_of(lower_case_word);
    const auto found = std::lower_bound(first, last, number);
    if (found == last || *found != number) return std::nullopt;
    return static_cast<std::uint16_t>(found - words_.begin());
  }

 private:
  static std::uint64_t number_of(std::string_view word) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < longest_word; ++i) {
      number = number << 8U | (i < word.size() ? static_cast<unsigned char>(word[i]) : 0U);
    }
    return number;
  }
  static std::size_t bucket_of(std::string_view word) {
    return static_cast<std::size_t>(word[0] - 'a') * 26 + static_cast<std::size_t>(word[1] - 'a');
  }

  std::array<std::uint64_t, seed_word_count> words_{};
  std::array<std::uint16_t, std::size_t{26} * 26 + 1> begins_{};
};

using Words = std::span<const std::uint16_t>;

// A window that slides over a run of words and knows whether those in it were drawn by chance: the
// phrases of documentation repeat words, and lists are sorted. A step costs the same in every run.
class Window {
 public:
  Window(Words run, std::size_t size) : run_{run}, size_{size} {}

  // Takes in the next word. False: the run has no more.
  bool move(SeedWork& work) {
    if (end_ == run_.size()) return false;
    ++work.steps;
    ascending_ = end_ > 0 && run_[end_] < run_[end_ - 1] ? 1 : ascending_ + 1;
    if (counts_[run_[end_++]]++ == 0) ++distinct_;
    if (end_ <= size_) return true;
    ++work.steps;
    if (--counts_[run_[end_ - size_ - 1]] == 0) --distinct_;
    return true;
  }
  [[nodiscard]] bool is_full() const { return end_ >= size_; }
  [[nodiscard]] bool is_random() const { return ascending_ < size_ && distinct_ * 4 > size_ * 3; }
  [[nodiscard]] Words words() const { return run_.subspan(end_ - size_, size_); }

 private:
  Words run_;
  std::array<std::uint8_t, seed_word_count> counts_{};  // of the words in the window
  std::size_t size_, end_ = 0, distinct_ = 0;
  std::size_t ascending_ = 0;  // so many words before `end_` are in alphabetical order
};

// The words are numbers of 11 bits; of these, the last bits are the first of the hash of the rest.
bool passes_checksum(Words phrase) {
  std::string bytes;
  unsigned held = 0, held_bits = 0;
  for (const std::uint16_t word : phrase) {
    held = held << word_bits | word;
    held_bits += word_bits;
    for (; held_bits >= 8; held_bits -= 8) bytes += static_cast<char>(held >> (held_bits - 8));
  }
  // 4 bits for 12 words, up to 8 for 24, which are then a byte of their own.
  const auto check_bits = static_cast<unsigned>(phrase.size() / 3);
  unsigned check = held & ((1U << held_bits) - 1);
  if (held_bits == 0) {
    check = static_cast<unsigned char>(bytes.back());
    bytes.pop_back();
  }
  Sha256 hash;
  const HexHash hex_digits = hash.hash(bytes);
  const auto value = [](char digit) {
    return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  };
  const unsigned first = value(hex_digits[0]) << 4U | value(hex_digits[1]);
  return first >> (8 - check_bits) == check;
}

bool has_phrase_of(std::size_t size, Words run, std::size_t most_checks, SeedWork& work) {
  Window window{run, size};
  while (window.move(work)) {
    if (!window.is_full() || !window.is_random()) continue;
    if (work.checks == most_checks) return false;
    ++work.checks;
    if (passes_checksum(window.words())) return true;
  }
  return false;
}

bool has_phrase_in(Words run, std::size_t most_checks, SeedWork& work) {
  work.words += run.size();
  if (run.size() > longest_run) return false;
  return std::any_of(phrase_sizes.begin(), phrase_sizes.end(), [&](std::size_t size) {
    return size <= run.size() && has_phrase_of(size, run, most_checks, work);
  });
}

// A form sends a space as `+`.
bool is_between_words(char c) { return is_in(space, c) || c == '+'; }
bool is_part_of_a_word(char c) { return is_in(word, c) || (c & '\x80') != 0; }

}  // namespace

std::optional<std::uint16_t> seed_word(std::string_view word) {
  static const WordList list;
  if (word.size() < shortest_word || word.size() > longest_word) return std::nullopt;
  std::array<char, longest_word> folded{};
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (!is_in(letters, word[i])) return std::nullopt;
    folded[i] = to_lower(word[i]);
  }
  return list.find({folded.data(), word.size()});
}

bool SeedPhrases::end_run() {
  const std::size_t most_checks = least_checks + text_.size() / bytes_per_check;
  const bool found = run_.size() >= phrase_sizes.front() && has_phrase_in(run_, most_checks, work_);
  run_.clear();
  return found;
}

// Nearly all of a text is skipped here, many characters at a time.
void SeedPhrases::skip_to_next_stretch() {
  constexpr std::size_t shortest_phrase =
      phrase_sizes.front() * shortest_word + phrase_sizes.front() - 1;
  const Stretch stretch = next_stretch(text_, at_, letters_and_space, shortest_phrase);
  at_ = stretch.first;
  stretch_end_ = stretch.end;
}

bool SeedPhrases::look_up_to(std::size_t to) {
  while (at_ < to) {
    if (at_ >= stretch_end_) {
      if (!run_.empty() && end_run()) return true;
      skip_to_next_stretch();
      continue;
    }
    if (is_between_words(text_[at_])) {
      ++at_;
      continue;
    }
    const std::size_t size = run_length(text_, at_, letters, longest_word + 1);
    const bool begins = at_ == 0 || !is_part_of_a_word(text_[at_ - 1]);
    const std::size_t after = at_ + size;
    const bool ends = after == text_.size() || !is_part_of_a_word(text_[after]);
    const auto found = begins && ends ? seed_word(text_.substr(at_, size)) : std::nullopt;
    if (!found) {
      if (end_run()) return true;
      at_ += std::max<std::size_t>(size, 1);
      continue;
    }
    run_.push_back(*found);
    at_ = after;
    // Anything but white space ends the run.
    if (at_ < text_.size() && !is_between_words(text_[at_]) && end_run()) return true;
  }
  return to == text_.size() && end_run();
}

}  // namespace stile::scan
