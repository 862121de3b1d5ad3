// Node: a parsed TOML or JSON document, with the place of every value. The readers of settings see
// it instead of a parser's own types.
#pragma once

#include <cstdint>
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
