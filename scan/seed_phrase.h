// Seed phrases of wallets (BIP 39): 12 to 24 words of a list, the last with a checksum. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stile::scan {

inline constexpr std::size_t seed_word_count = 2048;

// The place of a word in the list, upper or lower case; nullopt: it is not in it.
[[nodiscard]] std::optional<std::uint16_t> seed_word(std::string_view word);

// What a search did, for tests: it grows with the text, whatever the text is.
struct SeedWork {
  std::size_t words = 0;   // of the list, that were looked at
  std::size_t steps = 0;   // words that came into a window, or left it
  std::size_t checks = 0;  // checksums that were computed
};

// Looks through a text part by part for a phrase of English words with white space between them, on
// its own or among other words. The phrases of documentation, which repeat words, and lists in
// alphabetical order are not counted.
class SeedPhrases {
 public:
  explicit SeedPhrases(std::string_view text) noexcept : text_{text} {}

  // Looks at the words that begin before `to`, after those of the last call. True: a phrase ends
  // there.
  [[nodiscard]] bool look_up_to(std::size_t to);
  [[nodiscard]] const SeedWork& work() const noexcept { return work_; }

 private:
  [[nodiscard]] bool end_run();
  void skip_to_next_stretch();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t stretch_end_ = 0;  // of letters and white space, in which at_ is or which it has left
  std::vector<std::uint16_t> run_;  // words of the list, with nothing else between them
  SeedWork work_;
};

}  // namespace stile::scan
