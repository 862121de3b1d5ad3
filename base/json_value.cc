// Json: parses with nlohmann-json, which only this file includes.
#include "base/json_value.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace stile {

namespace {

// ASCII only; invalid UTF-8 is replaced.
std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// Makes a Json from the events of the parser. Containers that are not complete wait on a stack, so
// that no depth of nesting needs more of the program's stack.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  struct Bounds {
    std::size_t most_values;
    bool has_unique_keys;
  };
  explicit JsonBuilder(const Bounds& bounds) : bounds_{bounds} {}
  [[nodiscard]] Json take() { return std::move(root_); }

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Json(value)); }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return add(Json(value));
  }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool key(string_t& value) override {
    auto& top = open_.back();
    if (bounds_.has_unique_keys && top.value.find(value) != nullptr) return false;
    top.key = std::move(value);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(Json::list()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  struct Open {
    Json value;
    std::string key;  // of the member that is being read
  };

  bool count() { return ++values_ <= bounds_.most_values; }
  bool open(Json container) {
    if (open_.size() == Json::max_depth || !count()) return false;
    open_.push_back({std::move(container), {}});
    return true;
  }
  bool close() {
    Json done = std::move(open_.back().value);
    open_.pop_back();
    return place(std::move(done));
  }
  bool add(Json value) { return count() && place(std::move(value)); }
  bool place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().value.is_list()) {
      open_.back().value.add(std::move(value));
    } else {
      open_.back().value.set(std::move(open_.back().key), std::move(value));
    }
    return true;
  }

  Bounds bounds_;
  std::vector<Open> open_;
  Json root_;
  std::size_t values_ = 0;
};

std::optional<Json> build(std::string_view text, const JsonBuilder::Bounds& bounds) {
  JsonBuilder builder{bounds};
  if (!nlohmann::json::sax_parse(text, &builder)) return std::nullopt;
  return builder.take();
}

}  // namespace

Json::Json(const std::vector<std::string>& words) : value_{List(words.begin(), words.end())} {}
Json::Json(std::initializer_list<Member> members) : value_{Members(members)} {}

Json Json::list() {
  Json json;
  json.value_ = List{};
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Members{};
  return json;
}

Json Json::parse(std::string_view text) {
  return build(text, {std::numeric_limits<std::size_t>::max(), false}).value_or(Json{});
}

std::optional<Json> Json::parse_strictly(std::string_view text, std::size_t most_values) {
  return build(text, {most_values, true});
}

bool Json::is_integer() const noexcept {
  return std::holds_alternative<std::uint64_t>(value_) ||
         std::holds_alternative<std::int64_t>(value_);
}

bool Json::is_number() const noexcept {
  return is_integer() || std::holds_alternative<double>(value_);
}

const Json* Json::find(std::string_view key) const {
  const auto* members = std::get_if<Members>(&value_);
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(),
                                  [&](const Member& member) { return member.first == key; });
  return found == members->end() ? nullptr : &found->second;
}

void Json::set(std::string key, Json value) {
  if (!is_object()) value_ = Members{};
  auto& members = std::get<Members>(value_);
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Member& member) { return member.first == key; });
  if (found != members.end()) {
    found->second = std::move(value);
  } else {
    members.emplace_back(std::move(key), std::move(value));
  }
}

void Json::remove(std::string_view key) {
  auto* members = std::get_if<Members>(&value_);
  if (members == nullptr) return;
  std::erase_if(*members, [&](const Member& member) { return member.first == key; });
}

const Json::Members& Json::members() const {
  static const Members none;
  const auto* members = std::get_if<Members>(&value_);
  return members == nullptr ? none : *members;
}

const Json::List& Json::items() const {
  static const List none;
  const auto* items = std::get_if<List>(&value_);
  return items == nullptr ? none : *items;
}

void Json::add(Json item) {
  if (!std::holds_alternative<List>(value_)) value_ = List{};
  std::get<List>(value_).push_back(std::move(item));
}

std::string Json::text() const {
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  return is_null() ? std::string{} : dump();
}

std::uint64_t Json::number() const {
  if (const auto* number = std::get_if<std::uint64_t>(&value_)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value_)) {
    return *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
  }
  const auto* number = std::get_if<double>(&value_);
  const bool fits = number != nullptr && *number > 0 && *number < 1e18;
  return fits ? static_cast<std::uint64_t>(*number) : 0;
}

bool Json::flag() const {
  const auto* flag = std::get_if<bool>(&value_);
  return flag != nullptr && *flag;
}

void Json::append_to(std::string& out) const {
  if (const auto* items = std::get_if<List>(&value_)) {
    out += '[';
    for (const auto& item : *items) {
      if (&item != &items->front()) out += ',';
      item.append_to(out);
    }
    out += ']';
  } else if (const auto* members = std::get_if<Members>(&value_)) {
    out += '{';
    for (const auto& member : *members) {
      if (&member != &members->front()) out += ',';
      out.append(json_string(member.first)).append(":");
      member.second.append_to(out);
    }
    out += '}';
  } else if (const auto* text = std::get_if<std::string>(&value_)) {
    out += json_string(*text);
  } else if (const auto* flag = std::get_if<bool>(&value_)) {
    out += *flag ? "true" : "false";
  } else if (const auto* positive = std::get_if<std::uint64_t>(&value_)) {
    out += std::to_string(*positive);
  } else if (const auto* whole = std::get_if<std::int64_t>(&value_)) {
    out += std::to_string(*whole);
  } else if (const auto* number = std::get_if<double>(&value_)) {
    out += nlohmann::json(*number).dump();
  } else {
    out += "null";
  }
}

std::string Json::dump() const {
  std::string out;
  append_to(out);
  return out;
}

std::string text_of(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value == nullptr ? std::string{} : value->text();
}

std::uint64_t number_of(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value == nullptr ? 0 : value->number();
}

bool flag_of(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value != nullptr && value->flag();
}

bool has(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value != nullptr && !value->is_null();
}

const Json& list_of(const Json& object, std::string_view key) {
  static const Json none = Json::list();
  const Json* value = object.find(key);
  return value == nullptr ? none : *value;
}

const Json& object_of(const Json& object, std::string_view key) {
  static const Json none;
  const Json* value = object.find(key);
  return value == nullptr ? none : *value;
}

std::string joined(const Json& list, std::string_view separator) {
  std::string out;
  for (const Json& item : list) {
    if (!out.empty()) out += separator;
    out += item.text();
  }
  return out;
}

std::string dump(const Json& value) { return value.dump(); }

}  // namespace stile
