// Appender: writes to the end of a string without asking for room before each piece.
//
// A line is some sixty pieces of a few bytes; growing the string for each of them was the larger
// part of what a line cost.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace stile::audit {

class Appender {
 public:
  // No more than `room` bytes are written; whoever makes it has counted them.
  Appender(std::string& out, std::size_t room) : out_{out} {
    const std::size_t begin = out.size();
    out.resize(begin + room);
    at_ = out.data() + begin;
    end_ = out.data() + out.size();
  }
  ~Appender() { out_.resize(size()); }
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  // Of the string, with what was written so far.
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(at_ - out_.data());
  }

  void plain(std::string_view text) noexcept {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void number(std::uint64_t value) noexcept { at_ = std::to_chars(at_, end_, value).ptr; }
  // As append_escaped: a byte becomes six at most.
  void escaped(std::string_view text) noexcept;

  static constexpr std::size_t max_number = 20;
  static constexpr std::size_t max_escape = 6;

 private:
  std::string& out_;
  char* at_;
  char* end_;
};

}  // namespace stile::audit
