// Fields: the keys of a small table, and where in a struct their values go. The keys of stile.toml
// and of cards are in schema.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/reader.h"
#include "config/values.h"

namespace stile::config {

template <class Owner>
struct Field {
  std::string_view name;
  // False: the value is invalid, which was reported; nothing has changed.
  bool (*read)(const Node&, const Reader&, Owner&);
};

template <class Owner, class Value>
Owner owner_of(Value Owner::*);

// `Read` makes a value of a node, or reports why not. A number becomes one of the member's type.
template <auto Place, auto Read, class Owner = decltype(owner_of(Place))>
constexpr Field<Owner> field(std::string_view name) {
  return {name, [](const Node& node, const Reader& reader, Owner& owner) {
            auto value = Read(node, reader);
            using Value = std::remove_reference_t<decltype(owner.*Place)>;
            if (value) owner.*Place = static_cast<Value>(*std::move(value));
            return value.has_value();
          }};
}

// Null: there is no such key.
template <class Fields>
[[nodiscard]] const typename Fields::value_type* find_field(const Fields& fields,
                                                            std::string_view name) noexcept {
  for (const auto& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

// False: there is no such key.
template <class Fields, class Owner>
[[nodiscard]] bool read_field(const Fields& fields, const Member& member, const Reader& reader,
                              Owner& owner) {
  const auto* const found = find_field(fields, member.key);
  if (found != nullptr) found->read(member.value, reader, owner);
  return found != nullptr;
}

template <class Fields>
[[nodiscard]] std::vector<std::string_view> names_of(const Fields& fields) {
  std::vector<std::string_view> names;
  for (const auto& field : fields) names.push_back(field.name);
  return names;
}

// Also with control characters, which Text refuses.
[[nodiscard]] inline std::optional<std::string> read_any_text(const Node& node,
                                                              const Reader& reader) {
  const auto* text = node.as<std::string>();
  if (text == nullptr) return reader.wrong_type(node, "a string");
  return *text;
}

template <std::int64_t Most>
[[nodiscard]] std::optional<std::uint64_t> read_number(const Node& node, const Reader& reader) {
  const auto value = read_integer(node, reader, 0, Most);
  return value ? std::optional{static_cast<std::uint64_t>(*value)} : std::nullopt;
}

}  // namespace stile::config
