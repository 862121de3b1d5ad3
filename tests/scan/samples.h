// Samples: keys that are made here, so that no real one is in these files, and ways to encode them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scan/search.h"

namespace stile::scan::samples {

inline constexpr std::string_view letters_and_digits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
inline constexpr std::string_view lower_hex_digits = "0123456789abcdef";
inline constexpr std::string_view capitals_and_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

// The same text for the same seed.
[[nodiscard]] std::string random_text(std::size_t size, unsigned seed,
                                      std::string_view alphabet = letters_and_digits);
[[nodiscard]] std::string random_bytes(std::size_t size, unsigned seed);

struct Sample {
  std::string name, text;
};
// One of each shape of the set.
[[nodiscard]] std::vector<Sample> tokens();
[[nodiscard]] std::vector<Sample> private_keys();

[[nodiscard]] std::string hex_of(std::string_view text, bool upper = false);
[[nodiscard]] std::string percent(std::string_view text, bool all);
[[nodiscard]] std::string json_escaped(std::string_view text);  // every character as \u00xx
[[nodiscard]] std::string url_base64(std::string_view text);    // without padding
[[nodiscard]] std::string gzip(std::string_view text);
[[nodiscard]] std::string zlib(std::string_view text);
[[nodiscard]] std::string raw_deflate(std::string_view text);

// The texts to look for with these scans.
[[nodiscard]] std::shared_ptr<const Texts> texts_of(std::vector<Scan> scans);
// The names of what is found in a body, and whether it was too dense.
[[nodiscard]] std::string found_in(const std::shared_ptr<const Texts>& texts,
                                   std::string_view text);
// Of all built-in sets.
[[nodiscard]] const std::shared_ptr<const Texts>& all_sets();

}  // namespace stile::scan::samples
