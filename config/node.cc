// Node: its members, the names of its types for messages, and the document as JSON.
#include "config/node.h"

#include <algorithm>
#include <utility>

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

const Node* Node::find(std::string_view key) const noexcept {
  const auto* table = as<Table>();
  if (table == nullptr) return nullptr;
  const auto found = std::find_if(table->begin(), table->end(),
                                  [&](const Member& member) { return member.key == key; });
  return found == table->end() ? nullptr : &found->value;
}

const Node& Node::at(std::string_view key) const noexcept {
  static const Node none;
  const Node* found = find(key);
  return found == nullptr ? none : *found;
}

const Node* Node::given(std::string_view key) const noexcept {
  const Node* found = find(key);
  return found == nullptr || found->as<Unusable>() != nullptr ? nullptr : found;
}

std::string Node::text(std::string_view key) const {
  const auto* text = get<std::string>(key);
  return text == nullptr ? "" : *text;
}

bool Node::flag(std::string_view key) const noexcept {
  const auto* flag = get<bool>(key);
  return flag != nullptr && *flag;
}

std::optional<std::int64_t> Node::number(std::string_view key) const {
  const auto* number = get<std::int64_t>(key);
  return number == nullptr || *number < 0 ? std::nullopt : std::optional{*number};
}

const Node::Array& Node::list(std::string_view key) const {
  static const Array none;
  const auto* list = get<Array>(key);
  return list == nullptr ? none : *list;
}

void Node::remove(std::string_view key) {
  std::erase_if(std::get<Table>(value), [&](const Member& member) { return member.key == key; });
}

void Node::set(std::string_view key, Node value_of_key) {
  remove(key);
  std::get<Table>(value).push_back({std::string{key}, {}, std::move(value_of_key)});
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
