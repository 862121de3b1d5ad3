// json_text: documents back to JSON, for cards and for --json.
#include "netns/json_text.h"

#include <array>
#include <charconv>
#include <variant>

namespace stile::netns {
namespace {

using config::Node;

struct Printer {
  std::string& text;

  void operator()(const config::Unusable&) { text += "null"; }
  void operator()(const config::Timestamp&) { text += "null"; }
  void operator()(bool value) { text += value ? "true" : "false"; }
  void operator()(std::int64_t value) { text += std::to_string(value); }
  void operator()(double value) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    text.append(buffer.data(), end);
  }
  void operator()(const std::string& value) { text += json_text(value); }
  void operator()(const Node::Array& items) {
    text += '[';
    const char* separator = "";
    for (const auto& item : items) {
      text += separator;
      std::visit(*this, item.value);
      separator = ", ";
    }
    text += ']';
  }
  void operator()(const Node::Table& members) {
    text += '{';
    const char* separator = "";
    for (const auto& member : members) {
      text += separator + json_text(member.key) + ": ";
      std::visit(*this, member.value.value);
      separator = ", ";
    }
    text += '}';
  }
};

}  // namespace

std::string json_text(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += "\\u00";
      quoted += digits[byte >> 4U];
      quoted += digits[byte & 15U];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string json_text(const config::Node& node) {
  std::string text;
  std::visit(Printer{text}, node.value);
  return text;
}

}  // namespace stile::netns
