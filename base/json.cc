// JSON as text.
#include "base/json.h"

#include <array>
#include <charconv>

#include "base/ascii.h"

namespace stile {
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      append_hex(out += "\\u00", byte);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  out += '"';
}

std::string json_text(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

void append_number(std::string& out, double value) {
  std::array<char, 32> digits{};
  const auto* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string_view text{digits.data(), static_cast<std::size_t>(end - digits.data())};
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

std::string& JsonObject::key(std::string_view name) {
  if (!is_first_) out_ += ',';
  is_first_ = false;
  append_quoted(out_, name);
  out_ += ':';
  return out_;
}

JsonObject& JsonObject::add(std::string_view name, std::string_view value) {
  append_quoted(key(name), value);
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, const std::vector<std::string>& values) {
  JsonArray array{key(name)};
  for (const auto& value : values) append_quoted(array.next(), value);
  return *this;
}

JsonObject& JsonObject::add_seconds(std::string_view name, double seconds) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), seconds,
                                 std::chars_format::fixed, 3)
                       .ptr;
  key(name).append(digits.data(), end);
  return *this;
}

}  // namespace stile
