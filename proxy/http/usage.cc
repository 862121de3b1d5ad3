// UsageReader: a JSON reader that knows where it is only as far as the counts are.
#include "proxy/http/usage.h"

#include <algorithm>
#include <utility>

namespace stile::http {
namespace {

constexpr std::string_view data_name = "data";
// No answer reports more; a sum of these stays far from the end of the type.
constexpr std::uint64_t most_tokens = std::uint64_t{1} << 40U;

bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The digits at the beginning; a negative number is none.
std::uint64_t number_in(std::string_view word) noexcept {
  std::uint64_t value = 0;
  for (const char c : word) {
    if (c < '0' || c > '9' || value > most_tokens) break;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return std::min(value, most_tokens);
}

}  // namespace

UsageReader::Key UsageReader::key_of(std::string_view word) noexcept {
  constexpr std::array<std::pair<std::string_view, Key>, 17> known{{
      {"message", Key::envelope},
      {"response", Key::envelope},
      {"usage", Key::usage},
      {"usageMetadata", Key::usage},
      {"input_tokens", Key::input},
      {"prompt_tokens", Key::input},
      {"promptTokenCount", Key::input},
      {"output_tokens", Key::output},
      {"completion_tokens", Key::output},
      {"candidatesTokenCount", Key::output},
      {"cache_read_input_tokens", Key::cached},
      {"cache_creation_input_tokens", Key::written},
      {"thoughtsTokenCount", Key::hidden},
      {"toolUsePromptTokenCount", Key::tools},
      {"total_tokens", Key::total},
      {"totalTokenCount", Key::total},
      {"totalTokens", Key::counted},
  }};
  for (const auto& [name, key] : known) {
    if (word == name) return key;
  }
  return Key::other;
}

bool UsageReader::has_input() const noexcept {
  return highest_[static_cast<std::size_t>(Key::input)] > 0 ||
         highest_[static_cast<std::size_t>(Key::total)] > 0;
}

std::uint64_t UsageReader::tokens() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kinds; ++i) {
    if (i != static_cast<std::size_t>(Key::total)) sum += highest_[i];
  }
  return std::max(sum, highest_[static_cast<std::size_t>(Key::total)]);
}

void UsageReader::feed(std::string_view body) noexcept {
  for (const char c : body) {
    if (form_ == Form::events) {
      read_event_byte(c);
    } else {
      read_json_byte(c);
    }
  }
}

// A document is all `data` lines up to an empty line. Lines end with CR, LF or both.
void UsageReader::read_event_byte(char c) noexcept {
  if (c == '\n' && std::exchange(after_return_, false)) return;
  after_return_ = c == '\r';
  if (c == '\r' || c == '\n') {
    const bool is_empty = line_ == Line::name && name_size_ == 0;
    if (is_empty) end_document();
    if (line_ == Line::value) read_json_byte('\n');
    line_ = Line::name;
    name_size_ = 0;
    return;
  }
  switch (line_) {
    case Line::name:
      if (c == ':' && name_size_ == data_name.size()) {
        line_ = Line::value_start;
      } else if (name_size_ < data_name.size() && c == data_name[name_size_]) {
        ++name_size_;
      } else {
        line_ = Line::ignored;
      }
      break;
    case Line::value_start:
      line_ = Line::value;
      if (c != ' ') read_json_byte(c);
      break;
    case Line::value:
      read_json_byte(c);
      break;
    case Line::ignored:
      break;
  }
}

void UsageReader::add_to_word(char c) noexcept {
  if (word_size_ < max_word) word_[word_size_] = c;
  word_size_ = std::min(word_size_ + 1, max_word + 1);
}

void UsageReader::read_string_byte(char c) noexcept {
  if (is_escaped_) {
    is_escaped_ = false;
  } else if (c == '\\') {
    is_escaped_ = has_escape_ = true;
  } else if (c == '"') {
    in_string_ = false;
    if (!awaits_key_ || level_ >= max_level) return;
    const bool is_plain = !has_escape_ && word_size_ <= max_word;
    keys_[level_] = is_plain ? key_of({word_.data(), word_size_}) : Key::other;
  } else {
    add_to_word(c);
  }
}

void UsageReader::read_json_byte(char c) noexcept {
  if (in_string_) return read_string_byte(c);
  if (is_space(c)) return end_scalar();
  switch (c) {
    case '"':
      in_string_ = true;
      has_escape_ = false;
      word_size_ = 0;
      break;
    case '{':
    case '[':
      open(c == '{');
      break;
    case '}':
    case ']':
      end_scalar();
      close();
      break;
    case ':':
      awaits_key_ = false;
      break;
    case ',':
      end_scalar();
      awaits_key_ = level_ < max_level && is_object_[level_];
      break;
    default:
      if (!std::exchange(in_scalar_, true)) word_size_ = 0;
      add_to_word(c);
  }
}

void UsageReader::open(bool is_object) noexcept {
  // A list of documents: the stream of Gemini without events.
  if (level_ == 0 && !is_object) base_ = 1;
  ++level_;
  if (level_ < max_level) {
    is_object_[level_] = is_object;
    keys_[level_] = Key::other;
  }
  awaits_key_ = is_object;
}

void UsageReader::close() noexcept {
  if (level_ > 0) --level_;
  awaits_key_ = false;
  if (level_ == 0) base_ = 0;
}

// The document is at level base_ + 1. Its usage is there, or in an envelope of it.
bool UsageReader::is_usage_level(std::size_t level) const noexcept {
  if (level < base_ + 1 || level >= max_level) return false;
  for (std::size_t i = base_ + 1; i <= level; ++i) {
    if (!is_object_[i]) return false;
  }
  if (level == base_ + 1) return true;
  return level == base_ + 2 && keys_[base_ + 1] == Key::envelope;
}

void UsageReader::end_scalar() noexcept {
  if (!std::exchange(in_scalar_, false) || level_ == 0 || level_ >= max_level) return;
  if (awaits_key_ || !is_object_[level_] || word_size_ > max_word) return;
  const std::string_view word{word_.data(), word_size_};
  const auto level = static_cast<std::size_t>(level_);
  if (word == "null") {
    has_null_ = has_null_ || (keys_[level] == Key::usage && is_usage_level(level));
    return;
  }
  if (word.front() < '0' || word.front() > '9') return;
  const bool is_alone = level == 1 && (keys_[1] == Key::input || keys_[1] == Key::counted);
  has_count_ = has_count_ || is_alone;
  const bool is_count = keys_[level] > Key::usage && keys_[level] != Key::counted &&
                        keys_[level - 1] == Key::usage && is_usage_level(level - 1);
  if (!is_count) return;
  std::uint64_t& highest = highest_[static_cast<std::size_t>(keys_[level])];
  highest = std::max(highest, number_in(word));
  has_report_ = true;
}

void UsageReader::end_document() noexcept {
  end_scalar();
  level_ = 0;
  base_ = 0;
  in_string_ = is_escaped_ = awaits_key_ = false;
}

}  // namespace stile::http
