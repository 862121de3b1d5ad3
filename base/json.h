// JSON as text: writes answers, the state file, cards and --json output.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace stile {

// The string with its quotes. UTF-8 passes unchanged. Control bytes are escaped, so that no value
// can start a new line or control a terminal.
void append_quoted(std::string& out, std::string_view text);
[[nodiscard]] std::string json_text(std::string_view text);

// The shortest digits that read back as the same number, always with a point or an exponent: "1"
// would read back as an integer.
void append_number(std::string& out, double value);

// Writes the members of one object in order: JsonObject{out}.add("ok", true).
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_{out} { out_ += '{'; }
  ~JsonObject() { out_ += '}'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  // The caller appends the value right after.
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
  // With three digits after the point.
  JsonObject& add_seconds(std::string_view name, double seconds);

 private:
  std::string& out_;
  bool is_first_ = true;
};

// Writes the brackets of an array and the commas between its elements.
class JsonArray {
 public:
  explicit JsonArray(std::string& out) : out_{out} { out_ += '['; }
  ~JsonArray() { out_ += ']'; }
  JsonArray(const JsonArray&) = delete;
  JsonArray& operator=(const JsonArray&) = delete;
  // The caller appends the element right after.
  std::string& next() {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    return out_;
  }

 private:
  std::string& out_;
  bool is_first_ = true;
};

}  // namespace stile
