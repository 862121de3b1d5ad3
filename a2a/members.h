// members: reads values of a JSON object. A null means that the member is missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/node.h"

namespace stile::a2a {

[[nodiscard]] inline const config::Node* member(const config::Node& object, std::string_view key) {
  const auto* table = object.as<config::Node::Table>();
  if (table == nullptr) return nullptr;
  for (const auto& one : *table) {
    if (one.key == key) return one.value.as<config::Unusable>() == nullptr ? &one.value : nullptr;
  }
  return nullptr;
}

template <class T>
[[nodiscard]] const T* member_as(const config::Node& object, std::string_view key) {
  const auto* found = member(object, key);
  return found == nullptr ? nullptr : found->as<T>();
}

[[nodiscard]] inline std::string text_of(const config::Node& object, std::string_view key) {
  const auto* text = member_as<std::string>(object, key);
  return text == nullptr ? "" : *text;
}

// Negative numbers do not count.
[[nodiscard]] inline std::optional<std::int64_t> number_of(const config::Node& object,
                                                           std::string_view key) {
  const auto* number = member_as<std::int64_t>(object, key);
  return number == nullptr || *number < 0 ? std::nullopt : std::optional{*number};
}

}  // namespace stile::a2a
