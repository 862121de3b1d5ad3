// Elements of lists: reads and prints them.
#include "config/list_values.h"

#include <array>

#include "base/ascii.h"
#include "base/contains.h"
#include "base/quoted.h"
#include "config/endpoint.h"

namespace stile::config {
namespace {

// The text of an element; null, with an error reported, if it has none.
const std::string* element_text(const Node& node, const Reader& reader) {
  const auto* text = node.as<std::string>();
  if (text == nullptr) reader.wrong_type(node, "a string");
  return text;
}

std::nullopt_t bad_element(const Node& node, const Reader& reader, const std::string& text,
                           const Error& error) {
  return reader.error(node, in_quotes(text) + ": " + error.message);
}

// The patterns of an exception name whole hosts: an exception opens an address on every port that
// the allow rules permit, and regexes are not compiled for it.
std::optional<std::vector<PlacedPattern>> read_exception_hosts(const Node& node,
                                                               const Reader& reader) {
  auto hosts = List<PatternElement>::read(node, reader);
  if (!hosts) return std::nullopt;
  if (hosts->empty())
    return reader.error(node, "hosts must not be empty", "leave it out for every host");
  for (const auto& host : *hosts) {
    if (host.pattern.kind == acl::Pattern::Kind::regex ||
        host.pattern.reach != acl::Pattern::Reach::bare) {
      return reader.error(node, in_quotes(host.pattern.text()) + " is not allowed in hosts",
                          "only names, without scheme, port or regex");
    }
  }
  return hosts;
}

std::optional<PrivateExceptionSettings> read_exception_table(const Node& node,
                                                             const Node::Table& table,
                                                             const Reader& reader) {
  PrivateExceptionSettings exception;
  bool has_prefix = false;
  bool is_good = true;
  for (const auto& [key, position, value] : table) {
    if (key == "prefix") {
      const auto prefix = PrefixElement::read(value, reader);
      has_prefix = true;
      is_good = is_good && prefix;
      if (prefix) exception.prefix = *prefix;
    } else if (key == "hosts") {
      auto hosts = read_exception_hosts(value, reader);
      is_good = is_good && hosts;
      if (hosts) exception.hosts = std::move(*hosts);
    } else {
      reader.problems.error(reader.place(position), reader.key, "unknown key " + in_quotes(key),
                            "the keys here are prefix and hosts");
      is_good = false;
    }
  }
  if (!has_prefix) return reader.error(node, "prefix is missing");
  return is_good ? std::optional{std::move(exception)} : std::nullopt;
}

bool is_header_name(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && text.size() <= 256 && has_only(text, marks);
}

}  // namespace

std::optional<PlacedPattern> PatternElement::read(const Node& node, const Reader& reader) {
  const auto* text = element_text(node, reader);
  if (text == nullptr) return std::nullopt;
  auto pattern = acl::Pattern::parse(*text);
  if (!pattern) return reader.error(node, pattern.error().message);
  return PlacedPattern{std::move(*pattern), node.position.line};
}

std::string PatternElement::print(const Value& value) { return Text::print(value.pattern.text()); }

std::optional<acl::Prefix> PrefixElement::read(const Node& node, const Reader& reader) {
  const auto* text = element_text(node, reader);
  if (text == nullptr) return std::nullopt;
  const auto prefix = acl::Prefix::parse(*text);
  if (!prefix) return reader.error(node, printable(prefix.error().message));
  return *prefix;
}

std::optional<acl::Prefix> SourceElement::read(const Node& node, const Reader& reader) {
  constexpr std::uint8_t mapped_bits = 96;
  auto prefix = PrefixElement::read(node, reader);
  if (prefix && prefix->length >= mapped_bits && prefix->address.unmapped() != prefix->address) {
    prefix->address = prefix->address.unmapped();
    prefix->length = static_cast<std::uint8_t>(prefix->length - mapped_bits);
  }
  return prefix;
}

std::optional<acl::Address> AddressElement::read(const Node& node, const Reader& reader) {
  const auto* text = element_text(node, reader);
  if (text == nullptr) return std::nullopt;
  if (const auto address = acl::Address::parse(*text)) return address;
  return reader.error(node, in_quotes(*text) + " is not an IP address");
}

std::optional<acl::Prefix> SubnetValue::read(const Node& node, const Reader& reader) {
  auto prefix = PrefixElement::read(node, reader);
  if (prefix && !(prefix->address.is_v4() && prefix->length >= 8 && prefix->length <= 30)) {
    return reader.error(node, prefix->text() + " is not a subnet for agents",
                        "an IPv4 prefix from /8 to /30");
  }
  return prefix;
}

std::optional<PrivateExceptionSettings> ExceptionElement::read(const Node& node,
                                                               const Reader& reader) {
  if (const auto* table = node.as<Node::Table>()) return read_exception_table(node, *table, reader);
  if (node.as<std::string>() == nullptr) {
    return reader.wrong_type(node, "a prefix or {prefix = …, hosts = […]}");
  }
  const auto prefix = PrefixElement::read(node, reader);
  return prefix ? std::optional{PrivateExceptionSettings{*prefix, {}}} : std::nullopt;
}

std::string ExceptionElement::print(const Value& value) {
  auto prefix = PrefixElement::print(value.prefix);
  if (value.hosts.empty()) return prefix;
  return "{prefix = " + prefix + ", hosts = " + List<PatternElement>::print(value.hosts) + '}';
}

std::optional<EchSetting> EchValue::read(const Node& node, const Reader& reader) {
  if (const auto* word = node.as<std::string>()) {
    if (*word == "refuse") return EchSetting{};
    if (*word == "allow") return EchSetting{true, {}};
    return reader.error(node, in_quotes(*word) + " is not " + std::string{type},
                        "to allow it for some hosts, write [" + in_quotes(*word) + ']');
  }
  if (node.as<Node::Array>() == nullptr) return reader.wrong_type(node, type);
  auto hosts = List<PatternElement>::read(node, reader);
  if (!hosts) return std::nullopt;
  for (const auto& host : *hosts) {
    if (host.pattern.reach == acl::Pattern::Reach::http ||
        host.pattern.reach == acl::Pattern::Reach::tcp) {
      return reader.error(node, in_quotes(host.pattern.text()) + " has no TLS hello",
                          "write the name without the scheme");
    }
  }
  return EchSetting{false, std::move(*hosts)};
}

std::string EchValue::print(const EchSetting& value) {
  if (value.everywhere) return "\"allow\"";
  return value.hosts.empty() ? "\"refuse\"" : List<PatternElement>::print(value.hosts);
}

std::optional<Endpoint> ListenElement::read(const Node& node, const Reader& reader) {
  const auto* text = element_text(node, reader);
  if (text == nullptr) return std::nullopt;
  const auto endpoint = parse_endpoint(*text);
  if (!endpoint) return bad_element(node, reader, *text, endpoint.error());
  if (!endpoint->unix_path.empty()) {
    return reader.error(node, in_quotes(*text) + ": a unix socket always belongs to an agent",
                        "write it in that agent's listen");
  }
  return *endpoint;
}

std::optional<Endpoint> AgentListenElement::read(const Node& node, const Reader& reader) {
  const auto* text = element_text(node, reader);
  if (text == nullptr) return std::nullopt;
  const auto endpoint = parse_endpoint(*text);
  if (!endpoint) return bad_element(node, reader, *text, endpoint.error());
  // Every client of this listener is treated as the agent, so it must not accept other hosts.
  if (endpoint->unix_path.empty() && !is_loopback(endpoint->address)) {
    return reader.error(
        node, in_quotes(*text) + ": an agent's own listener must be on a loopback address",
        "like 127.0.0.1:3129, or unix:/path");
  }
  return *endpoint;
}

std::optional<Endpoint> DnsServerElement::read(const Node& node, const Reader& reader) {
  const auto* text = element_text(node, reader);
  if (text == nullptr) return std::nullopt;
  const auto endpoint = parse_dns_server(*text);
  if (!endpoint) return bad_element(node, reader, *text, endpoint.error());
  return *endpoint;
}

std::optional<std::string> HeaderNameElement::read(const Node& node, const Reader& reader) {
  // Without these headers a request cannot be framed or would reach another host.
  constexpr std::array<std::string_view, 3> needed{"host", "content-length", "transfer-encoding"};
  const auto* text = element_text(node, reader);
  if (text == nullptr) return std::nullopt;
  if (!is_header_name(*text)) return reader.error(node, in_quotes(*text) + " is not a header name");
  if (contains(needed, lower_case(*text))) {
    return reader.error(node, in_quotes(*text) + " cannot be named here", "Stile sets it itself");
  }
  return *text;
}

}  // namespace stile::config
