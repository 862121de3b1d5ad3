// JSON as text: what answers and the state file are written with.
#include "control/json_text.h"

#include <array>
#include <charconv>

namespace stile::control {
namespace {

struct Writer {
  std::string& out;

  void operator()(const config::Unusable&) const { out += "null"; }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { out += std::to_string(value); }
  void operator()(double value) const {
    std::array<char, 32> digits{};
    const auto* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    const std::string_view text{digits.data(), static_cast<std::size_t>(end - digits.data())};
    out += text;
    // Else it would be read as a whole number the next time, or be too large for one.
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
  }
  void operator()(const std::string& value) const { append_quoted(out, value); }
  void operator()(const config::Timestamp& value) const { out += std::to_string(value.micros); }
  void operator()(const config::Node::Array& values) const {
    JsonArray array{out};
    for (const auto& value : values) append_node(array.next(), value);
  }
  void operator()(const config::Node::Table& members) const {
    JsonObject object{out};
    for (const auto& member : members) append_node(object.key(member.key), member.value);
  }
};

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out.append("\\u00").append(1, hex[byte >> 4]).append(1, hex[byte & 15]);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  out += '"';
}

void append_node(std::string& out, const config::Node& node) {
  std::visit(Writer{out}, node.value);
}

std::string node_text(const config::Node& node) {
  std::string out;
  append_node(out, node);
  return out;
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

}  // namespace stile::control
