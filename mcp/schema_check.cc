// schema_check: one function for each kind of value.
#include "mcp/schema_check.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "base/quoted.h"

namespace stile::mcp {
namespace {

std::string problem_at(const Json& schema, const Json& value, const std::string& place);

std::string said(const std::string& place, const std::string& problem) {
  return place.empty() ? problem : place + ": " + problem;
}

bool is_of_type(std::string_view type, const Json& value) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_list();
  if (type == "string") return value.is_text();
  if (type == "integer") return value.is_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_flag();
  return type == "null" && value.is_null();
}

std::string expected(std::string_view type) {
  const bool takes_an = type == "object" || type == "array" || type == "integer";
  return std::string{"expected "} + (takes_an ? "an " : "a ") + std::string{type};
}

std::string unknown_member(const Json& known, const std::string& name) {
  std::vector<std::string_view> names;
  for (const auto& [key, ignored] : known.members()) names.emplace_back(key);
  const auto meant = nearest(name, names);
  return "there is no " + in_quotes(name) +
         (meant.empty() ? "" : "; did you mean " + in_quotes(meant) + "?");
}

std::string object_problem(const Json& schema, const Json& value, const std::string& place) {
  for (const Json& name : list_of(schema, "required")) {
    if (value.find(name.text()) == nullptr) return said(place, name.text() + " is missing");
  }
  const Json& known = object_of(schema, "properties");
  const Json* others = schema.find("additionalProperties");
  for (const auto& [name, member] : value.members()) {
    const auto inner = place.empty() ? printable(name) : place + '.' + printable(name);
    const Json* own = known.find(name);
    if (own == nullptr && others != nullptr && others->is_flag() && !others->flag()) {
      return said(place, unknown_member(known, name));
    }
    if (own == nullptr) own = others;
    if (own == nullptr) continue;
    if (auto problem = problem_at(*own, member, inner); !problem.empty()) return problem;
  }
  return {};
}

std::string list_problem(const Json& schema, const Json& value, const std::string& place) {
  const Json* most = schema.find("maxItems");
  if (most != nullptr && value.size() > most->number()) {
    return said(place, "at most " + most->text() + " items");
  }
  const Json* items = schema.find("items");
  if (items == nullptr) return {};
  std::size_t index = 0;
  for (const Json& item : value) {
    auto problem = problem_at(*items, item, place + '[' + std::to_string(index++) + ']');
    if (!problem.empty()) return problem;
  }
  return {};
}

std::string text_problem(const Json& schema, const Json& value, const std::string& place) {
  const auto size = value.text().size();
  const Json* least = schema.find("minLength");
  if (least != nullptr && size < least->number()) return said(place, "must not be empty");
  const Json* most = schema.find("maxLength");
  if (most != nullptr && size > most->number()) {
    return said(place, "at most " + most->text() + " bytes");
  }
  return {};
}

// Integers only: no schema of ours has bounds for others.
std::string number_problem(const Json& schema, const Json& value, const std::string& place) {
  const bool is_negative = value.text().starts_with('-');
  const Json* least = schema.find("minimum");
  if (least != nullptr && (is_negative || value.number() < least->number())) {
    return said(place, "at least " + least->text());
  }
  const Json* most = schema.find("maximum");
  if (most != nullptr && !is_negative && value.number() > most->number()) {
    return said(place, "at most " + most->text());
  }
  return {};
}

std::string problem_at(const Json& schema, const Json& value, const std::string& place) {
  if (const Json* type = schema.find("type"); type != nullptr && !is_of_type(type->text(), value)) {
    return said(place, expected(type->text()));
  }
  if (const Json* only = schema.find("const"); only != nullptr && only->dump() != value.dump()) {
    return said(place, "expected " + only->dump());
  }
  if (const Json* words = schema.find("enum")) {
    const auto& all = words->items();
    const auto is_it = [&](const Json& word) { return word.dump() == value.dump(); };
    if (std::none_of(all.begin(), all.end(), is_it)) {
      return said(place, "expected one of " + joined(*words));
    }
  }
  if (value.is_object()) return object_problem(schema, value, place);
  if (value.is_list()) return list_problem(schema, value, place);
  if (value.is_text()) return text_problem(schema, value, place);
  if (value.is_integer()) return number_problem(schema, value, place);
  return {};
}

}  // namespace

std::string schema_problem(const Json& schema, const Json& value) {
  return problem_at(schema, value, "");
}

}  // namespace stile::mcp
