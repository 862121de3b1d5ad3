// Appender: writes to the end of a string without reserving space for each piece.
//
// A line consists of about sixty pieces of a few bytes; growing the string for each of them took
// most of the time.
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
  // Writes at most `room` bytes; the caller has counted them.
  Appender(std::string& out, std::size_t room) : out_{out} {
    const std::size_t begin = out.size();
    out.resize(begin + room);
    at_ = out.data() + begin;
    end_ = out.data() + out.size();
  }
  ~Appender() { out_.resize(size()); }
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  // The size of the string, including what was written so far.
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(at_ - out_.data());
  }

  void plain(std::string_view text) noexcept {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void number(std::uint64_t value) noexcept { at_ = std::to_chars(at_, end_, value).ptr; }
  // As append_escaped: a byte becomes at most six.
  void escaped(std::string_view text) noexcept;

  static constexpr std::size_t max_number = 20;
  static constexpr std::size_t max_escape = 6;

 private:
  std::string& out_;
  char* at_;
  char* end_;
};

}  // namespace stile::audit
