// Node: a parsed TOML or JSON document, with the place of every value. The readers of settings see
// it instead of a parser's own types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "acl/policy.h"

namespace stile::config {

struct Position {
  std::uint32_t line = 0;  // from 1
  std::uint32_t column = 0;
};

struct Timestamp {
  UnixMicros micros = 0;
};

// A value that no setting accepts (null, a date without a time zone …), by its name for messages.
struct Unusable {
  std::string_view name;
};

struct Member;

struct Node {
  using Array = std::vector<Node>;
  using Table = std::vector<Member>;  // in the order of the text; no duplicate keys
  std::variant<Unusable, bool, std::int64_t, double, std::string, Timestamp, Array, Table> value;
  Position position;

  template <class T>
  [[nodiscard]] const T* as() const noexcept {
    return std::get_if<T>(&value);
  }

  // The value of a key. Null: the key is missing, or this is no table.
  [[nodiscard]] const Node* find(std::string_view key) const noexcept;
  [[nodiscard]] const Node& at(std::string_view key) const noexcept;  // a null: missing
  // As find(), and a null counts as missing.
  [[nodiscard]] const Node* given(std::string_view key) const noexcept;
  // As find(), and a value of another type counts as missing.
  template <class T>
  [[nodiscard]] const T* get(std::string_view key) const noexcept {
    const Node* found = find(key);
    return found == nullptr ? nullptr : found->as<T>();
  }
  [[nodiscard]] std::string text(std::string_view key) const;  // "": missing
  [[nodiscard]] bool flag(std::string_view key) const noexcept;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view key) const;  // not negative
  [[nodiscard]] const Array& list(std::string_view key) const;                   // empty: missing
  // This is a table.
  void remove(std::string_view key);
  void set(std::string_view key, Node value);  // as the last one

  // "a string", "an integer" …, for "expected …, found a string".
  [[nodiscard]] std::string_view type_name() const;
};

// The document as JSON on one line. A time becomes its microseconds, an unusable value null.
[[nodiscard]] std::string json_text(const Node& node);

struct Member {
  std::string key;
  Position position;  // of the key
  Node value;
};

}  // namespace stile::config
