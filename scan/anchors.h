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

  // For each of the three bytes of a window, the groups of texts that can have it there. Tables for
  // whole bytes, and for halves of bytes, which the processor can look up 32 at a time: the lower
  // halves, and of the last byte also the upper half.
  struct Tables {
    std::array<std::array<std::uint8_t, 256>, least_bytes> whole{};
    std::array<std::array<std::uint8_t, 16>, least_bytes> low{};
    std::array<std::uint8_t, 16> high{};
    bool are_ascii = true;  // all windows
  };
  // Places that can have a window.
  struct Places {
    std::array<std::size_t, 128> at;
    std::size_t count;
  };

  // Each text has at least that many bytes, and lives as long as this.
  explicit Anchors(std::span<const std::string_view> texts);

  // Calls found(number of the text, position) for every occurrence that begins from `from` on and
  // before `to`.
  template <class Found>
  void visit(std::string_view in, std::size_t from, std::size_t to, Found found) const {
    if (texts_.empty()) return;
    const std::string_view part = in.substr(0, to - 1 + furthest_ + least_bytes);
    Places places;
    for (std::size_t at = from; at + least_bytes <= part.size();) {
      at = next(part, at, places);
      for (std::size_t i = 0; i < places.count; ++i) {
        const std::size_t place = places.at[i];
        const auto [first, last] = with_window(in.substr(place, least_bytes));
        for (std::size_t number = first; number < last; ++number) {
          const Text& text = texts_[number];
          if (place < from + text.window || place >= to + text.window) continue;
          const std::size_t begin = place - text.window;
          if (in.substr(begin, text.text.size()) == text.text) found(text.number, begin);
        }
      }
    }
  }

 private:
  struct Text {
    std::uint32_t key;  // the bytes of its window
    std::string_view text;
    std::size_t number;
    std::size_t window;  // where in the text its window begins
  };
  // Finds some places from `from` on. Returns where to go on.
  [[nodiscard]] std::size_t next(std::string_view in, std::size_t from,
                                 Places& places) const noexcept;
  [[nodiscard]] std::pair<std::size_t, std::size_t> with_window(
      std::string_view bytes) const noexcept;

  std::vector<Text> texts_;   // by key
  std::size_t furthest_ = 0;  // the last place of a window in its text
  Tables tables_;
};

}  // namespace stile::scan
