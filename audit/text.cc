// Escaping by table: runs of plain bytes are copied whole.
#include "audit/text.h"

#include <algorithm>
#include <ctime>

#include "base/appender.h"

namespace stile::audit {
namespace {

using ByteSet = std::array<bool, 256>;

constexpr ByteSet outside_printable(std::string_view more) {
  ByteSet set{};
  for (std::size_t byte = 0; byte < set.size(); ++byte) set[byte] = byte < 0x20 || byte > 0x7e;
  for (const char byte : more) set[static_cast<unsigned char>(byte)] = true;
  return set;
}

constexpr ByteSet squid_special = outside_printable(" \"<>#{}|\\^`");

// Calls special(byte) for each byte of the set, and copies the bytes between.
template <class Special>
void append_runs(std::string& out, std::string_view bytes, const ByteSet& set, Special special) {
  std::size_t run = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    if (!set[byte]) continue;
    out.append(bytes, run, at - run);
    special(byte);
    run = at + 1;
  }
  out.append(bytes, run);
}

void put_two_digits(char* to, int number) {
  to[0] = static_cast<char>('0' + number / 10);
  to[1] = static_cast<char>('0' + number % 10);
}

}  // namespace

std::string counted(std::uint64_t count, std::string_view noun) {
  std::string text = std::to_string(count);
  text.append(" ").append(noun);
  if (count != 1) text += 's';
  return text;
}

void append_escaped(std::string& out, std::string_view bytes) {
  Appender{out, bytes.size() * Appender::max_escape}.escaped(bytes);
}

void append_percent_escaped(std::string& out, std::string_view bytes) {
  append_runs(out, bytes, squid_special, [&out](unsigned char byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    out += '%';
    out += digits[byte >> 4];
    out += digits[byte & 15];
  });
}

TimeText::Text TimeText::operator()(std::int64_t unix_micros) {
  constexpr std::int64_t end_of_9999 = 253'402'300'800'000'000;  // four digits of year
  const std::int64_t micros = std::clamp<std::int64_t>(unix_micros, 0, end_of_9999 - 1);
  const std::int64_t second = micros / 1'000'000;
  if (second != second_) {
    second_ = second;
    const std::time_t time = second;
    std::tm parts{};
    gmtime_r(&time, &parts);
    char* const to = text_.data();
    put_two_digits(to, (parts.tm_year + 1900) / 100);
    put_two_digits(to + 2, parts.tm_year % 100);
    to[4] = '-';
    put_two_digits(to + 5, parts.tm_mon + 1);
    to[7] = '-';
    put_two_digits(to + 8, parts.tm_mday);
    to[10] = 'T';
    put_two_digits(to + 11, parts.tm_hour);
    to[13] = ':';
    put_two_digits(to + 14, parts.tm_min);
    to[16] = ':';
    put_two_digits(to + 17, parts.tm_sec);
    to[19] = '.';
  }
  auto rest = static_cast<std::uint32_t>(micros % 1'000'000);
  for (std::size_t digit = 26; digit-- > 20; rest /= 10) {
    text_[digit] = static_cast<char>('0' + rest % 10);
  }
  text_[26] = 'Z';
  return text_;
}

}  // namespace stile::audit
