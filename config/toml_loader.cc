// TOML text to Node, through toml++.
#include "config/toml_loader.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace {

// toml++ 3.3 considers some malformed texts ("[#") impossible and asserts that they do not occur.
// In a release build its assertions are hints to the optimizer, and the behaviour is undefined.
// Here they are errors in every build.
constexpr void expect_of_text(bool holds) {
  if (!holds) throw std::logic_error{"not TOML; is there a table header without a name?"};
}

}  // namespace

// Compiled in here, not linked: this way it has our assertions, our sanitizers and fuzzing
// feedback, and a nesting limit that fits a config.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) expect_of_text(static_cast<bool>(condition))
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include "base/quoted.h"
#include "base/unix_time.h"
#include "config/toml_guard.h"

namespace stile::config {
namespace {

Position to_position(const toml::source_position& position) {
  return {position.line, position.column};
}

Node convert(const toml::node& from);

Node::Table convert_table(const toml::table& from) {
  Node::Table out;
  for (const auto& [key, value] : from) {
    out.push_back({std::string{key.str()}, to_position(key.source().begin), convert(value)});
  }
  // toml++ sorts by name; here the order of the file is restored for people.
  std::sort(out.begin(), out.end(), [](const Member& a, const Member& b) {
    return std::pair{a.position.line, a.position.column} <
           std::pair{b.position.line, b.position.column};
  });
  return out;
}

decltype(Node::value) convert_time(const toml::date_time& from) {
  if (!from.offset) return Unusable{"a date and time without an offset (write …Z for UTC)"};
  const auto micros =
      to_micros({from.date.year, from.date.month, from.date.day, from.time.hour, from.time.minute,
                 from.time.second, from.time.nanosecond / 1000, from.offset->minutes});
  if (!micros) return Unusable{"a date outside the years 1970 to 9999"};
  return Timestamp{*micros};
}

Node convert(const toml::node& from) {
  Node out{{}, to_position(from.source().begin)};
  if (const auto* text = from.as_string()) {
    out.value = text->get();
  } else if (const auto* integer = from.as_integer()) {
    out.value = integer->get();
  } else if (const auto* boolean = from.as_boolean()) {
    out.value = boolean->get();
  } else if (const auto* number = from.as_floating_point()) {
    out.value = number->get();
  } else if (const auto* time = from.as_date_time()) {
    out.value = convert_time(time->get());
  } else if (const auto* array = from.as_array()) {
    Node::Array list;
    for (const auto& element : *array) list.push_back(convert(element));
    out.value = std::move(list);
  } else if (const auto* table = from.as_table()) {
    out.value = convert_table(*table);
  } else {
    out.value = Unusable{"a date or a time alone"};
  }
  return out;
}

Diagnostics one_error(const std::string& file, Position position, std::string problem) {
  Diagnostics out;
  out.error({file, position.line, position.column}, "", std::move(problem));
  return out;
}

}  // namespace

Checked<Node> parse_toml(std::string_view text, const std::string& file) {
  if (text.size() > max_toml_bytes) return one_error(file, {}, "larger than 16 MiB");
  if (const auto fault = find_toml_fault(text)) {
    return one_error(file, fault->position, std::string{fault->problem});
  }
  try {
    return Node{convert_table(toml::parse(text)), {1, 1}};
  } catch (const toml::parse_error& error) {
    return one_error(file, to_position(error.source().begin), printable(error.description()));
  } catch (const std::exception& error) {  // no memory, or see expect_of_text
    return one_error(file, {}, error.what());
  }
}

}  // namespace stile::config
