// Json: parses with nlohmann-json, which only this file includes.
#include "cli/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stile::cli {

namespace {

using Parsed = nlohmann::ordered_json;

// ASCII only; invalid UTF-8 is replaced.
std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

// Converts a value of nlohmann-json to a Json.
class JsonReader {
 public:
  static Json convert(const Parsed& parsed) {
    Json json;
    if (parsed.is_boolean()) json.value_ = parsed.get<bool>();
    if (parsed.is_number_unsigned()) {
      json.value_ = parsed.get<std::uint64_t>();
    } else if (parsed.is_number_integer()) {
      json.value_ = parsed.get<std::int64_t>();
    } else if (parsed.is_number_float()) {
      json.value_ = parsed.get<double>();
    }
    if (parsed.is_string()) json.value_ = parsed.get<std::string>();
    if (parsed.is_array()) {
      Json::List items;
      for (const auto& item : parsed) items.push_back(convert(item));
      json.value_ = std::move(items);
    }
    if (parsed.is_object()) {
      Json::Members members;
      for (const auto& [key, value] : parsed.items()) members.emplace_back(key, convert(value));
      json.value_ = std::move(members);
    }
    return json;
  }
};

Json::Json(const std::vector<std::string>& words) : value_{List(words.begin(), words.end())} {}
Json::Json(std::initializer_list<Member> members) : value_{Members(members)} {}

Json Json::list() {
  Json json;
  json.value_ = List{};
  return json;
}

Json Json::parse(std::string_view text) {
  return JsonReader::convert(Parsed::parse(text, nullptr, false));
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

}  // namespace stile::cli
