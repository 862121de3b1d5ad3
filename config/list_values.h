// Lists of values: reads and prints ports, patterns, prefixes and so on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "config/values.h"

namespace stile::config {

// A list of one kind of element. All invalid elements are reported. Duplicates are errors too,
// unless they are harmless (launchers merge several lists of hosts).
template <class Element>
struct List {
  static constexpr std::string_view type = Element::list_type;
  using Value = typename Element::Value;

  static std::optional<std::vector<Value>> read(const Node& node, const Reader& reader) {
    const auto* elements = node.as<Node::Array>();
    if (elements == nullptr) return reader.wrong_type(node, "a list");
    std::vector<Value> values;
    std::unordered_set<std::string> seen;
    bool is_good = true;
    for (const auto& element : *elements) {
      auto value = Element::read(element, reader);
      if (!value) {
        is_good = false;
      } else if (auto text = Element::print(*value);
                 !seen.insert(text).second && !Element::may_repeat) {
        reader.error(element, text + " appears twice");
        is_good = false;
      } else {
        values.push_back(std::move(*value));
      }
    }
    return is_good ? std::optional{std::move(values)} : std::nullopt;
  }

  static std::string print(const std::vector<Value>& values) {
    std::string out = "[";
    for (const auto& value : values) {
      if (out.size() > 1) out += ", ";
      out += Element::print(value);
    }
    return out + ']';
  }
};

struct PortElement {
  static constexpr std::string_view list_type = "list of ports";
  static constexpr bool may_repeat = false;
  using Value = std::uint16_t;
  static std::optional<Value> read(const Node& node, const Reader& reader) {
    return Port::read(node, reader);
  }
  static std::string print(Value value) { return std::to_string(value); }
};

struct PatternElement {
  static constexpr std::string_view list_type = "list of patterns";
  static constexpr bool may_repeat = true;
  using Value = PlacedPattern;
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value);
};

struct PathElement {
  static constexpr std::string_view list_type = "list of paths";
  static constexpr bool may_repeat = false;
  using Value = std::string;
  static std::optional<Value> read(const Node& node, const Reader& reader) {
    return Path::read(node, reader);
  }
  static std::string print(const Value& value) { return Text::print(value); }
};

struct PrefixElement {
  static constexpr std::string_view list_type = "list of addresses and prefixes";
  static constexpr bool may_repeat = false;
  using Value = acl::Prefix;
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value) { return '"' + value.text() + '"'; }
};

struct SourceElement {  // a v4-mapped source becomes its v4 address
  static constexpr std::string_view list_type = "list of addresses and prefixes";
  static constexpr bool may_repeat = false;
  using Value = acl::Prefix;
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value) { return PrefixElement::print(value); }
};

struct AddressElement {
  static constexpr std::string_view list_type = "list of addresses";
  static constexpr bool may_repeat = false;
  using Value = acl::Address;
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value) { return '"' + value.text() + '"'; }
};

// The same as single values.
struct SubnetValue {
  static constexpr std::string_view type = "IPv4 prefix";
  static std::optional<acl::Prefix> read(const Node& node, const Reader& reader);
  static std::string print(const acl::Prefix& value) { return PrefixElement::print(value); }
};
struct AddressValue {
  static constexpr std::string_view type = "address";
  static std::optional<acl::Address> read(const Node& node, const Reader& reader) {
    return AddressElement::read(node, reader);
  }
  static std::string print(const acl::Address& value) { return AddressElement::print(value); }
};

struct ExceptionElement {
  static constexpr std::string_view list_type = "list of prefixes or {prefix, hosts}";
  static constexpr bool may_repeat = false;
  using Value = PrivateExceptionSettings;
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value);
};

struct EchValue {
  static constexpr std::string_view type = "\"refuse\", \"allow\" or list of patterns";
  static std::optional<EchSetting> read(const Node& node, const Reader& reader);
  static std::string print(const EchSetting& value);
};

struct ListenElement {  // of [server]: TCP only
  static constexpr std::string_view list_type = "list of address:port";
  static constexpr bool may_repeat = false;
  using Value = Endpoint;
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value) { return '"' + value.text() + '"'; }
};

struct AgentListenElement {  // loopback TCP or a unix socket
  static constexpr std::string_view list_type = "list of loopback address:port or unix:/path";
  static constexpr bool may_repeat = false;
  using Value = Endpoint;
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value) { return ListenElement::print(value); }
};

struct DnsServerElement {
  static constexpr std::string_view list_type = "list of address or address:port";
  static constexpr bool may_repeat = false;
  using Value = Endpoint;
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value) { return ListenElement::print(value); }
};

struct HeaderNameElement {
  static constexpr std::string_view list_type = "list of header names";
  static constexpr bool may_repeat = true;
  using Value = std::string;
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value) { return Text::print(value); }
};

}  // namespace stile::config
