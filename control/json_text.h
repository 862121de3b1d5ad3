// JSON as text: what answers and the state file are written with.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"

namespace stile::control {

// The string with its quotes. UTF-8 goes through as it is; control bytes are escaped, so that
// nothing makes a second line.
void append_quoted(std::string& out, std::string_view text);

// A parsed document as text again, on one line.
void append_node(std::string& out, const config::Node& node);
[[nodiscard]] std::string node_text(const config::Node& node);

// Writes the members of one object in their order: JsonObject{out}.add("ok", true).
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_{out} { out_ += '{'; }
  ~JsonObject() { out_ += '}'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  // For a value that the caller writes himself, right after.
  std::string& key(std::string_view name);
  JsonObject& add(std::string_view name, std::string_view value);
  JsonObject& add(std::string_view name, const char* value) {
    return add(name, std::string_view{value});
  }
  JsonObject& add(std::string_view name, const std::vector<std::string>& values);
  template <std::integral Number>
  JsonObject& add(std::string_view name, Number value) {
    if constexpr (std::same_as<Number, bool>) {
      key(name) += value ? "true" : "false";
    } else {
      key(name) += std::to_string(value);
    }
    return *this;
  }
  // With three digits behind the point.
  JsonObject& add_seconds(std::string_view name, double seconds);

 private:
  std::string& out_;
  bool is_first_ = true;
};

// Commas between the elements of an array, brackets around it.
class JsonArray {
 public:
  explicit JsonArray(std::string& out) : out_{out} { out_ += '['; }
  ~JsonArray() { out_ += ']'; }
  JsonArray(const JsonArray&) = delete;
  JsonArray& operator=(const JsonArray&) = delete;
  // The caller writes the element right after.
  std::string& next() {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    return out_;
  }

 private:
  std::string& out_;
  bool is_first_ = true;
};

}  // namespace stile::control
