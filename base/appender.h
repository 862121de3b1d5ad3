// Appender: writes to the end of a string without reserving space for each piece.
//
// An audit line consists of about sixty pieces of a few bytes, a head of about twenty; growing the
// string for each of them took most of the time.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace stile {

class Appender {
 public:
  // Writes at most `room` bytes; the caller has counted them. Writing more ends the process.
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

  // Inlined everywhere: most texts are constants of a few bytes, which then take no call. An empty
  // view may have a null pointer, which memcpy must not be given.
  [[gnu::always_inline]] void plain(std::string_view text) noexcept {
    require(text.size());
    at_ += text.copy(at_, text.size());
  }
  void number(std::uint64_t value) noexcept {
    const auto written = std::to_chars(at_, end_, value);
    if (written.ec != std::errc{}) std::abort();
    at_ = written.ptr;
  }
  // The inside of a JSON string, ASCII only: a byte outside 0x20-0x7e becomes \u00NN.
  void escaped(std::string_view text) noexcept;

  static constexpr std::size_t max_escape = 6;

 private:
  void require(std::size_t bytes) const noexcept {
    if (bytes > static_cast<std::size_t>(end_ - at_)) std::abort();
  }

  std::string& out_;
  char* at_;
  char* end_;
};

}  // namespace stile
