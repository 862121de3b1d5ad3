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
template <class Kind>
struct List {
  static constexpr std::string_view type = Kind::list_type;
  using Value = typename Kind::Value;

  static std::optional<std::vector<Value>> read(const Node& node, const Reader& reader) {
    const auto* elements = node.as<Node::Array>();
    if (elements == nullptr) return reader.wrong_type(node, "a list");
    std::vector<Value> values;
    std::unordered_set<std::string> seen;
    bool is_good = true;
    for (const auto& element : *elements) {
      auto value = Kind::read(element, reader);
      if (!value) {
        is_good = false;
      } else if (auto text = Kind::print(*value); !seen.insert(text).second && !Kind::may_repeat) {
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
      out += Kind::print(value);
    }
    return out + ']';
  }
};

// What most elements have. Where may_repeat is true, duplicates are harmless.
template <class T>
struct Element {
  using Value = T;
  static constexpr bool may_repeat = false;
};
struct TextElement : Element<std::string> {
  static std::string print(const Value& value) { return Text::print(value); }
};
template <class T>
struct QuotedElement : Element<T> {
  static std::string print(const T& value) { return '"' + value.text() + '"'; }
};

struct PortElement : Element<std::uint16_t> {
  static constexpr std::string_view list_type = "list of ports";
  static std::optional<Value> read(const Node& node, const Reader& reader) {
    return Port::read(node, reader);
  }
  static std::string print(Value value) { return std::to_string(value); }
};

struct PatternElement : Element<PlacedPattern> {
  static constexpr std::string_view list_type = "list of patterns";
  static constexpr bool may_repeat = true;
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value);
};

struct PathElement : TextElement {
  static constexpr std::string_view list_type = "list of paths";
  static std::optional<Value> read(const Node& node, const Reader& reader) {
    return Path::read(node, reader);
  }
};

struct PrefixElement : QuotedElement<acl::Prefix> {
  static constexpr std::string_view list_type = "list of addresses and prefixes";
  static std::optional<Value> read(const Node& node, const Reader& reader);
};

struct SourceElement : QuotedElement<acl::Prefix> {  // a v4-mapped source becomes its v4 address
  static constexpr std::string_view list_type = "list of addresses and prefixes";
  static std::optional<Value> read(const Node& node, const Reader& reader);
};

struct AddressElement : QuotedElement<acl::Address> {
  static constexpr std::string_view list_type = "list of addresses";
  static std::optional<Value> read(const Node& node, const Reader& reader);
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

struct ExceptionElement : Element<PrivateExceptionSettings> {
  static constexpr std::string_view list_type = "list of prefixes or {prefix, hosts}";
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value);
};

struct EchValue {
  static constexpr std::string_view type = "\"refuse\", \"allow\" or list of patterns";
  static std::optional<EchSetting> read(const Node& node, const Reader& reader);
  static std::string print(const EchSetting& value);
};

struct ListenElement : QuotedElement<Endpoint> {  // of [server]: TCP only
  static constexpr std::string_view list_type = "list of address:port";
  static std::optional<Value> read(const Node& node, const Reader& reader);
};

struct AgentListenElement : QuotedElement<Endpoint> {  // loopback TCP or a unix socket
  static constexpr std::string_view list_type = "list of loopback address:port or unix:/path";
  static std::optional<Value> read(const Node& node, const Reader& reader);
};

struct DnsServerElement : QuotedElement<Endpoint> {
  static constexpr std::string_view list_type = "list of address or address:port";
  static std::optional<Value> read(const Node& node, const Reader& reader);
};

struct HeaderNameElement : TextElement {
  static constexpr std::string_view list_type = "list of header names";
  static constexpr bool may_repeat = true;
  static std::optional<Value> read(const Node& node, const Reader& reader);
};

}  // namespace stile::config
