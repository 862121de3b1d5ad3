// A small validator: an unknown keyword is an error, so that the schema cannot say more than is
// checked.
#include "tests/audit/schema.h"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

namespace stile::audit {
namespace {

using Json = nlohmann::ordered_json;

const Json& schema() {
  static const Json loaded = [] {
    std::ifstream file{STILE_AUDIT_SCHEMA};
    return Json::parse(file);
  }();
  return loaded;
}

bool matches_pattern(const std::string& text, const std::string& pattern) {
  static std::map<std::string, std::regex> compiled;  // compiling is slow, and there are few
  const auto [entry, is_new] = compiled.try_emplace(pattern);
  if (is_new) entry->second = std::regex{pattern};
  return std::regex_search(text, entry->second);
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  return false;
}

std::string check(const Json& value, const Json& rules, const std::string& where);

std::string check_object(const Json& value, const Json& rules, const std::string& where) {
  if (const auto required = rules.find("required"); required != rules.end()) {
    for (const auto& name : *required) {
      if (!value.contains(name)) return where + ": lacks " + name.get<std::string>();
    }
  }
  const auto properties = rules.find("properties");
  if (properties == rules.end()) return {};
  for (const auto& [name, item] : value.items()) {
    const auto known = properties->find(name);
    if (known != properties->end()) {
      if (auto wrong = check(item, *known, name); !wrong.empty()) return wrong;
    } else if (!rules.value("additionalProperties", true)) {
      return where + ": has a key that the schema does not know: " + name;
    }
  }
  return {};
}

// The keywords that judge one value by themselves.
std::string check_value(const Json& value, const Json& rules, const std::string& where) {
  if (rules.contains("type") && !has_type(value, rules["type"])) return where + ": wrong type";
  if (rules.contains("const") && value != rules["const"]) return where + ": wrong constant";
  if (rules.contains("enum")) {
    const auto& list = rules["enum"];
    if (std::find(list.begin(), list.end(), value) == list.end())
      return where + ": not in the list";
  }
  if (rules.contains("minimum") && value < rules["minimum"]) return where + ": too small";
  if (rules.contains("maximum") && value > rules["maximum"]) return where + ": too large";
  if (rules.contains("maxLength") &&
      value.get<std::string>().size() > 2 * rules["maxLength"].get<std::size_t>()) {
    return where + ": too long";  // nlohmann counts UTF-8 bytes: at most two for a code below 256
  }
  if (rules.contains("pattern") && !matches_pattern(value, rules["pattern"])) {
    return where + ": does not match its pattern";
  }
  return {};
}

std::string check(const Json& value, const Json& rules, const std::string& where) {
  static const std::set<std::string> known{
      "$schema", "$id",      "title",      "description",
      "type",    "const",    "enum",       "minimum",
      "maximum", "pattern",  "maxLength",  "items",
      "allOf",   "required", "properties", "additionalProperties",
      "if",      "then"};
  for (const auto& [keyword, ignored] : rules.items()) {
    if (!known.contains(keyword)) return "the schema uses " + keyword;
  }
  if (auto wrong = check_value(value, rules, where); !wrong.empty()) return wrong;
  if (value.is_object()) {
    if (auto wrong = check_object(value, rules, where); !wrong.empty()) return wrong;
  }
  if (value.is_array() && rules.contains("items")) {
    for (const auto& item : value) {
      if (auto wrong = check(item, rules["items"], where + "[]"); !wrong.empty()) return wrong;
    }
  }
  if (const auto parts = rules.find("allOf"); parts != rules.end()) {
    for (const auto& part : *parts) {
      if (auto wrong = check(value, part, where); !wrong.empty()) return wrong;
    }
  }
  if (rules.contains("if") && check(value, rules["if"], where).empty()) {
    return check(value, rules["then"], where);
  }
  return {};
}

// JSON Schema says nothing about the order of keys; the order in its `properties` is ours.
std::string check_order(const Json& line) {
  auto expected = schema()["properties"].items().begin();
  const auto end = schema()["properties"].items().end();
  for (const auto& [name, ignored] : line.items()) {
    while (expected != end && expected.key() != name) ++expected;
    if (expected == end) return "line: " + name + " is out of order";
  }
  return {};
}

}  // namespace

std::string schema_violation(std::string_view line) {
  const Json parsed = Json::parse(line, nullptr, false);
  if (parsed.is_discarded()) return "no JSON: " + std::string{line};
  for (const char byte : line) {
    if (byte < 0x20 || byte > 0x7e) return "not plain ASCII: " + std::string{line};
  }
  std::string wrong = check(parsed, schema(), "line");
  if (wrong.empty()) wrong = check_order(parsed);
  return wrong.empty() ? wrong : wrong + ": " + std::string{line};
}

}  // namespace stile::audit
