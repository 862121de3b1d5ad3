// The sizes that a stream may have reached when its reader is asked, for fuzz targets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stile::fuzz {

// A number that is the same for the same bytes (FNV-1a), so that a finding can be played again.
[[nodiscard]] inline std::uint64_t number_of(std::string_view bytes) noexcept {
  std::uint64_t number = 0xcbf29ce484222325;
  for (const char c : bytes) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return number;
}

// A few sizes in order, the last is the whole. The stream's own bytes choose them: asking at each
// byte, as the unit tests do, would cost a hundred other inputs.
[[nodiscard]] inline std::array<std::size_t, 5> arrival_sizes(std::string_view stream) noexcept {
  std::array<std::size_t, 5> sizes{};
  std::uint64_t number = number_of(stream);
  for (std::size_t& size : sizes) {
    size = (number & 0xffffff) % (stream.size() + 1);
    number = number * 0x9e3779b97f4a7c15 >> 3;
  }
  sizes.back() = stream.size();
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

}  // namespace stile::fuzz
