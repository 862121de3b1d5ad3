// Node: the names of its types for messages, and the document as JSON.
#include "config/node.h"

#include "base/json.h"

namespace stile::config {
namespace {

struct JsonAppender {
  std::string& out;

  void operator()(const Unusable&) const { out += "null"; }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { out += std::to_string(value); }
  void operator()(double value) const { append_number(out, value); }
  void operator()(const std::string& value) const { append_quoted(out, value); }
  void operator()(const Timestamp& value) const { out += std::to_string(value.micros); }
  void operator()(const Node::Array& values) const {
    JsonArray array{out};
    for (const auto& value : values) {
      array.next();
      std::visit(*this, value.value);
    }
  }
  void operator()(const Node::Table& members) const {
    JsonObject object{out};
    for (const auto& member : members) {
      object.key(member.key);
      std::visit(*this, member.value.value);
    }
  }
};

}  // namespace

std::string json_text(const Node& node) {
  std::string out;
  std::visit(JsonAppender{out}, node.value);
  return out;
}

std::string_view Node::type_name() const {
  struct Name {
    std::string_view operator()(const Unusable& other) const { return other.name; }
    std::string_view operator()(bool) const { return "a boolean"; }
    std::string_view operator()(std::int64_t) const { return "an integer"; }
    std::string_view operator()(double) const { return "a number with a fraction"; }
    std::string_view operator()(const std::string&) const { return "a string"; }
    std::string_view operator()(const Timestamp&) const { return "a date and time"; }
    std::string_view operator()(const Array&) const { return "a list"; }
    std::string_view operator()(const Table&) const { return "a table"; }
  };
  return std::visit(Name{}, value);
}

}  // namespace stile::config
