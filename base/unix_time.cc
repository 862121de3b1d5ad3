// Points in time as RFC 3339 text.
#include "base/unix_time.h"

#include <array>
#include <chrono>
#include <cstdio>

namespace stile {
namespace {

constexpr UnixMicros micros_per_day = 86'400 * micros_per_second;
constexpr UnixMicros last_micros = 253'402'300'799'999'999;  // of the year 9999

// Reads fixed-width fields from the front; after one failure all later ones fail.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_{text} {}

  unsigned digits(std::size_t count) {
    unsigned value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const char c = next();
      if (c < '0' || c > '9') ok_ = false;
      value = value * 10 + static_cast<unsigned>(c - '0');
    }
    return ok_ ? value : 0;
  }
  char one_of(std::string_view allowed) {
    const char c = next();
    if (allowed.find(c) == std::string_view::npos) ok_ = false;
    return c;
  }
  // The digits after a dot, as microseconds; further digits are dropped.
  unsigned fraction() {
    if (rest_.empty() || rest_.front() != '.') return 0;
    rest_.remove_prefix(1);
    unsigned micros = 0;
    std::size_t count = 0;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++count) {
      if (count < 6) micros = micros * 10 + static_cast<unsigned>(rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    if (count == 0 || count > 9) ok_ = false;
    for (; count < 6; ++count) micros *= 10;
    return micros;
  }
  [[nodiscard]] bool finished() const { return ok_ && rest_.empty(); }

 private:
  char next() {
    if (rest_.empty()) {
      ok_ = false;
      return '\0';
    }
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

std::optional<UnixMicros> to_micros(const CivilTime& time) {
  namespace chrono = std::chrono;
  const chrono::year_month_day date{chrono::year{time.year}, chrono::month{time.month},
                                    chrono::day{time.day}};
  if (time.year < 1970 || time.year > 9999 || !date.ok()) return std::nullopt;
  if (time.hour > 23 || time.minute > 59 || time.second > 59) return std::nullopt;
  const auto days = chrono::sys_days{date}.time_since_epoch().count();
  const UnixMicros seconds =
      static_cast<UnixMicros>(time.hour) * 3600 + time.minute * 60U + time.second;
  const UnixMicros micros = days * micros_per_day +
                            (seconds - time.offset_minutes * 60) * micros_per_second + time.micros;
  // An offset can move the time out of the years with four digits.
  if (micros < 0 || micros > last_micros) return std::nullopt;
  return micros;
}

std::optional<UnixMicros> parse_time(std::string_view text) {
  Fields fields{text};
  CivilTime time;
  time.year = static_cast<int>(fields.digits(4));
  fields.one_of("-");
  time.month = fields.digits(2);
  fields.one_of("-");
  time.day = fields.digits(2);
  fields.one_of("Tt ");
  time.hour = fields.digits(2);
  fields.one_of(":");
  time.minute = fields.digits(2);
  fields.one_of(":");
  time.second = fields.digits(2);
  time.micros = fields.fraction();
  const char zone = fields.one_of("Zz+-");
  if (zone == '+' || zone == '-') {
    const unsigned hours = fields.digits(2);
    fields.one_of(":");
    const unsigned minutes = fields.digits(2);
    if (hours > 23 || minutes > 59) return std::nullopt;
    time.offset_minutes = static_cast<int>(hours * 60 + minutes) * (zone == '-' ? -1 : 1);
  }
  if (!fields.finished()) return std::nullopt;
  return to_micros(time);
}

std::string time_text(UnixMicros time) {
  namespace chrono = std::chrono;
  const chrono::sys_time<chrono::microseconds> point{chrono::microseconds{time}};
  const auto day = chrono::floor<chrono::days>(point);
  const chrono::year_month_day date{day};
  const chrono::hh_mm_ss clock{point - day};
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  std::string text = out.data();
  if (clock.subseconds().count() != 0) {
    std::snprintf(out.data(), out.size(), ".%06d", static_cast<int>(clock.subseconds().count()));
    text += out.data();
  }
  return text + 'Z';
}

}  // namespace stile
