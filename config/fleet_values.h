// Values of [fleet]: endpoints of the store, names of hosts and labels.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/list_values.h"

namespace stile::config {

struct StoreElement : TextElement {  // "https://host:port"
  static constexpr std::string_view list_type = "list of https://host:port";
  static std::optional<Value> read(const Node& node, const Reader& reader);
};

struct StorePrefix {  // "/stile": no slash at its end
  static constexpr std::string_view type = "string";
  static std::optional<std::string> read(const Node& node, const Reader& reader);
  static std::string print(const std::string& value) { return Text::print(value); }
};

struct HostOrNone {
  static constexpr std::string_view type = "name or \"\"";
  static std::optional<std::string> read(const Node& node, const Reader& reader);
  static std::string print(const std::string& value) { return Text::print(value); }
};

struct LabelElement : TextElement {
  static constexpr std::string_view list_type = "list of labels";
  static std::optional<Value> read(const Node& node, const Reader& reader);
};

// Lower-case labels of a-z, 0-9 and -, joined by dots; at most 253 bytes.
[[nodiscard]] bool is_fleet_name(std::string_view name);

// Of "https://host:port"; the port is 2379 if it is missing. nullopt: not such a text.
struct StoreAddress {
  std::string host;  // without brackets
  std::string port;
};
[[nodiscard]] std::optional<StoreAddress> parse_store_address(std::string_view text);

}  // namespace stile::config
