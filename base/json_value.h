// Json: a JSON value, as requests to the daemon, its answers and messages of MCP are read and made.
// A missing key, or one of another type, reads as empty, so that tables also work with an older or
// newer daemon.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace stile {

class Json {
 public:
  using List = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Members = std::vector<Member>;  // in the order in which they were written

  Json() = default;  // null
  template <std::same_as<bool> Bool>
  Json(Bool value) : value_{value} {}
  template <std::unsigned_integral Number>
  requires(!std::same_as<Number, bool>) Json(Number value) : value_{std::uint64_t{value}} {}
  template <std::signed_integral Number>
  Json(Number value) : value_{std::int64_t{value}} {}
  Json(double value) : value_{value} {}
  Json(std::string value) : value_{std::move(value)} {}
  Json(std::string_view value) : value_{std::string{value}} {}
  Json(const char* value) : value_{std::string{value}} {}
  Json(const std::vector<std::string>& words);
  Json(std::initializer_list<Member> members);  // an object

  static Json list();
  static Json object();
  // Null if the text is not JSON, or is nested deeper than max_depth.
  static constexpr std::size_t max_depth = 64;
  static Json parse(std::string_view text);
  // For text of a stranger: a key that an object has twice is an error, and so are more than
  // `most_values` values. nullopt: not JSON, or not within these bounds.
  static std::optional<Json> parse_strictly(std::string_view text, std::size_t most_values);

  [[nodiscard]] bool is_null() const noexcept { return value_.index() == 0; }
  [[nodiscard]] bool is_flag() const noexcept { return std::holds_alternative<bool>(value_); }
  [[nodiscard]] bool is_integer() const noexcept;
  [[nodiscard]] bool is_number() const noexcept;  // an integer or not
  [[nodiscard]] bool is_text() const noexcept {
    return std::holds_alternative<std::string>(value_);
  }
  [[nodiscard]] bool is_list() const noexcept { return std::holds_alternative<List>(value_); }
  [[nodiscard]] bool is_object() const noexcept { return std::holds_alternative<Members>(value_); }
  [[nodiscard]] const Json* find(std::string_view key) const;  // null: no such key, or no object
  void set(std::string key, Json value);                       // replaces a member or adds it
  void remove(std::string_view key);

  // For an object; any other value acts as an empty one.
  [[nodiscard]] const Members& members() const;

  // For a list; any other value acts as an empty list.
  [[nodiscard]] const List& items() const;
  [[nodiscard]] List::const_iterator begin() const { return items().begin(); }
  [[nodiscard]] List::const_iterator end() const { return items().end(); }
  [[nodiscard]] std::size_t size() const { return items().size(); }
  [[nodiscard]] bool empty() const { return items().empty(); }
  void add(Json item);  // to a list

  [[nodiscard]] std::string text() const;      // a string; other values as JSON, null as ""
  [[nodiscard]] std::uint64_t number() const;  // 0: not a number, or negative
  [[nodiscard]] bool flag() const;             // false: not a boolean
  // One line, ASCII only, so that text chosen by an agent cannot control a terminal.
  [[nodiscard]] std::string dump() const;

 private:
  using Value = std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string,
                             List, Members>;
  void append_to(std::string& out) const;

  Value value_;
};

[[nodiscard]] std::string text_of(const Json& object, std::string_view key);
[[nodiscard]] std::uint64_t number_of(const Json& object, std::string_view key);
[[nodiscard]] bool flag_of(const Json& object, std::string_view key);
[[nodiscard]] bool has(const Json& object, std::string_view key);  // and it is not null
// The list or the object under the key, or an empty one.
[[nodiscard]] const Json& list_of(const Json& object, std::string_view key);
[[nodiscard]] const Json& object_of(const Json& object, std::string_view key);
// The words of a list: "a, b, c".
[[nodiscard]] std::string joined(const Json& list, std::string_view separator = ", ");
[[nodiscard]] std::string dump(const Json& value);

}  // namespace stile
