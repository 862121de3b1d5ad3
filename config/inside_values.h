// Values of the settings that look inside TLS: secrets and request entries.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/list_values.h"

namespace stile::config {

struct PathOrNone {  // "": none
  static constexpr std::string_view type = "path or \"\"";
  static std::optional<std::string> read(const Node& node, const Reader& reader);
  static std::string print(const std::string& value) { return Text::print(value); }
};

struct SecretName {
  static constexpr std::string_view type = "name";
  static std::optional<std::string> read(const Node& node, const Reader& reader);
  static std::string print(const std::string& value) { return AgentId::print(value); }
};

struct SecretNameElement : TextElement {
  static constexpr std::string_view list_type = "list of names";
  static std::optional<Value> read(const Node& node, const Reader& reader) {
    return SecretName::read(node, reader);
  }
};

struct CommandWordElement : TextElement {
  static constexpr std::string_view list_type = "list of words";
  static constexpr bool may_repeat = true;
  static std::optional<Value> read(const Node& node, const Reader& reader) {
    return Text::read(node, reader);
  }
};

struct HeaderName {
  static constexpr std::string_view type = "header name";
  static std::optional<std::string> read(const Node& node, const Reader& reader);
  static std::string print(const std::string& value) { return AgentId::print(value); }
};

struct SecretFormat {
  static constexpr std::string_view type = "string with one {}";
  static std::optional<std::string> read(const Node& node, const Reader& reader);
  static std::string print(const std::string& value) { return Text::print(value); }
};

struct OwnWord {
  static constexpr std::string_view type = "\"replace\" or \"refuse\"";
  static std::optional<bool> read(const Node& node, const Reader& reader);
  static std::string print(bool refuses) { return refuses ? "\"refuse\"" : "\"replace\""; }
};

struct ScanAction {
  static constexpr std::string_view type = "\"refuse\" or \"log\"";
  static std::optional<bool> read(const Node& node, const Reader& reader);
  static std::string print(bool only_logs) { return only_logs ? "\"log\"" : "\"refuse\""; }
};

struct ScanPattern {
  static constexpr std::string_view type = "regular expression";
  static std::optional<std::string> read(const Node& node, const Reader& reader);
  static std::string print(const std::string& value) { return Text::print(value); }
};

struct SecretHostElement : Element<PlacedPattern> {  // a name or *.below, opt. with a port
  static constexpr std::string_view list_type = "list of patterns";
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value) { return PatternElement::print(value); }
};

struct PathPatternElement : Element<acl::PathPattern> {
  static constexpr std::string_view list_type = "list of paths with * and **";
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value) { return Text::print(value.text()); }
};

struct MethodElement : TextElement {
  static constexpr std::string_view list_type = "list of methods";
  static std::optional<Value> read(const Node& node, const Reader& reader);
};

struct QueryElement : TextElement {  // a whole query string
  static constexpr std::string_view list_type = "list of queries";
  static std::optional<Value> read(const Node& node, const Reader& reader);
};

struct RefElement : Element<acl::RefPattern> {
  static constexpr std::string_view list_type = "list of refs with * and **";
  static constexpr bool may_repeat = true;
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value) { return Text::print(value.text()); }
};

// Its words are checked when it is expanded, see capability.h.
struct CanElement : Element<CanSettings> {
  static constexpr std::string_view list_type = "list of capabilities";
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value) { return Text::print(value.text); }
};

struct RequestElement : Element<RequestSettings> {
  static constexpr std::string_view list_type = "list of tables";
  static constexpr bool may_repeat = true;
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value);
};

struct BudgetElement : Element<BudgetSettings> {
  static constexpr std::string_view list_type = "list of tables";
  static constexpr bool may_repeat = true;  // two for one host are found when it is compiled
  static std::optional<Value> read(const Node& node, const Reader& reader);
  static std::string print(const Value& value);
};

// A request of a capability: it has more keys, and no body unless it says so.
struct CapabilityRequestElement {
  static std::optional<RequestSettings> read(const Node& node, const Reader& reader);
};

}  // namespace stile::config
