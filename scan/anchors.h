// Anchors: finds many short texts in one pass. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stile::scan {

class Anchors {
 public:
  static constexpr std::size_t least_bytes = 3;

  // Each text has at least that many bytes, and lives as long as this.
  explicit Anchors(std::span<const std::string_view> texts);

  // Calls found(number of the text, position) for every occurrence that begins from `from` on and
  // before `to`, by position. It returns false to end the search.
  template <class Found>
  void visit(std::string_view in, std::size_t from, std::size_t to, Found found) const {
    // As far as the first bytes of those can reach.
    const std::string_view part = in.substr(0, to + least_bytes - 1);
    for (std::size_t at = next(part, from); at < part.size(); at = next(part, at + 1)) {
      const auto [first, last] = beginning_with(in.substr(at, least_bytes));
      for (std::size_t i = first; i < last; ++i) {
        const std::string_view text = texts_[i].text;
        if (in.substr(at, text.size()) == text && !found(texts_[i].number, at)) return;
      }
    }
  }

 private:
  struct Text {
    std::uint32_t key;  // its first bytes
    std::string_view text;
    std::size_t number;
  };
  // For each of the first three bytes, the groups of texts that can have it there. A table for
  // single bytes, and two for its halves, which the processor can look up 32 at a time.
  struct Tables {
    std::array<std::array<std::uint8_t, 256>, least_bytes> whole{};
    std::array<std::array<std::uint8_t, 16>, least_bytes> low{}, high{};
  };
  [[nodiscard]] std::size_t next(std::string_view in, std::size_t from) const noexcept;
  [[nodiscard]] std::pair<std::size_t, std::size_t> beginning_with(
      std::string_view bytes) const noexcept;

  std::vector<Text> texts_;  // by key
  Tables tables_;
};

}  // namespace stile::scan
