// UsageReader: finds in the answer of a model's API how many tokens it says were used. Pure.
//
// It reads the bodies of Anthropic, OpenAI and Gemini, as one JSON text or as a stream of events.
// The counts are believed only where these APIs have them: an answer also carries texts and values
// that the agent chose, and these must not be able to hide a count.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stile::http {

class UsageReader {
 public:
  enum class Form : std::uint8_t { json, events };
  explicit UsageReader(Form form) noexcept : form_{form} {}

  // The next bytes of the body, in pieces of any size. Needs no memory beside this object.
  void feed(std::string_view body) noexcept;

  [[nodiscard]] bool has_report() const noexcept { return has_report_; }
  // The answer has a usage that is null: the model is still at work.
  [[nodiscard]] bool is_unfinished() const noexcept { return has_null_ && !has_report_; }
  // It counts the tokens of a text and uses none: the count is not in a usage.
  [[nodiscard]] bool is_only_a_count() const noexcept { return has_count_ && !has_report_; }
  // The count of what the model reads is among those reported.
  [[nodiscard]] bool has_input() const noexcept;
  // The highest count of each kind, added up; or the highest total, if that is more.
  [[nodiscard]] std::uint64_t tokens() const noexcept;

 private:
  // What a key at one of the first levels leads to.
  enum class Key : std::uint8_t {
    other,
    envelope,
    usage,
    input,
    output,
    cached,
    written,
    hidden,
    tools,
    total,
    counted
  };
  static constexpr std::size_t max_level = 5;  // below that nothing is of interest
  static constexpr std::size_t max_word = 32;  // longer than every known key
  static constexpr std::size_t kinds = 11;

  void read_event_byte(char c) noexcept;
  void read_json_byte(char c) noexcept;
  void read_string_byte(char c) noexcept;
  void open(bool is_object) noexcept;
  void close() noexcept;
  void end_scalar() noexcept;
  void end_document() noexcept;
  [[nodiscard]] static Key key_of(std::string_view word) noexcept;
  [[nodiscard]] bool is_usage_level(std::size_t level) const noexcept;
  void add_to_word(char c) noexcept;

  Form form_;
  // Of the JSON text that is being read.
  std::uint64_t level_ = 0;                  // of nesting
  std::size_t base_ = 0;                     // 1 inside a list of documents
  std::array<bool, max_level> is_object_{};  // by level
  std::array<Key, max_level> keys_{};        // the last key of each level
  std::array<char, max_word> word_{};        // the string or scalar that is being read
  std::size_t word_size_ = 0;                // max_word + 1: too long
  bool in_string_ = false, is_escaped_ = false, has_escape_ = false;
  bool awaits_key_ = false, in_scalar_ = false;
  // Of the stream of events.
  enum class Line : std::uint8_t { name, value_start, value, ignored };
  Line line_ = Line::name;
  std::size_t name_size_ = 0;  // of the field's name, as far as it is "data"
  bool after_return_ = false;
  // What was found.
  std::array<std::uint64_t, kinds> highest_{};
  bool has_report_ = false, has_null_ = false, has_count_ = false;
};

}  // namespace stile::http
