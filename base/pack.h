// Packer, Unpacker: numbers and texts as bytes, for messages between two processes of Stile.
//
// Numbers are little-endian; a text is its length in four bytes, then its bytes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace stile {

class Packer {
 public:
  template <std::unsigned_integral Number>
  Packer& number(Number value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
      out_ += static_cast<char>(static_cast<std::uint8_t>(std::uint64_t{value} >> (8 * i)));
    }
    return *this;
  }
  Packer& flag(bool value) { return number(static_cast<std::uint8_t>(value ? 1 : 0)); }
  Packer& text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    out_ += value;
    return *this;
  }
  [[nodiscard]] std::string take() noexcept { return std::move(out_); }

 private:
  std::string out_;
};

// After the first error every read returns nothing, and is_done() stays false.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) noexcept : rest_{bytes} {}

  template <std::unsigned_integral Number>
  [[nodiscard]] Number number() noexcept {
    std::uint64_t value = 0;
    const std::string_view bytes = take(sizeof(Number));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      value |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
    }
    return static_cast<Number>(value);
  }
  // Only 0 and 1 are flags.
  [[nodiscard]] bool flag() noexcept {
    const auto value = number<std::uint8_t>();
    if (value > 1) fail();
    return value == 1;
  }
  [[nodiscard]] std::string text(std::size_t most) {
    const std::size_t size = number<std::uint32_t>();
    if (size > most) fail();
    return std::string{take(size)};
  }
  // For values that are out of range.
  void fail() noexcept {
    is_good_ = false;
    rest_ = {};
  }
  [[nodiscard]] bool is_good() const noexcept { return is_good_; }
  // Everything was read, and nothing is left.
  [[nodiscard]] bool is_done() const noexcept { return is_good_ && rest_.empty(); }

 private:
  [[nodiscard]] std::string_view take(std::size_t size) noexcept {
    if (!is_good_ || size > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool is_good_ = true;
};

}  // namespace stile
