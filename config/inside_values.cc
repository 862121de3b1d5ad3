// Values of the settings that look inside TLS: secrets and request entries.
#include "config/inside_values.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/ascii.h"
#include "base/quoted.h"
#include "config/fields.h"
#include "config/settings_reader.h"
#include "scan/rules.h"

namespace stile::config {
namespace {

// "agent.request.path: unknown key; did you mean paths?"
void unknown_member(const Member& member, Reader reader,
                    const std::vector<std::string_view>& known) {
  reader.key += '.' + member.key;
  unknown_key(member, reader, known);
}

std::optional<PlacedPattern> read_opened_host(const Node& node, const Reader& reader,
                                              const char* hint) {
  auto host = PatternElement::read(node, reader);
  if (!host) return std::nullopt;
  const acl::Pattern& pattern = host->pattern;
  const bool is_name = pattern.kind == acl::Pattern::Kind::exact ||
                       pattern.kind == acl::Pattern::Kind::suffix ||
                       pattern.kind == acl::Pattern::Kind::below;
  const bool is_tls =
      pattern.reach == acl::Pattern::Reach::bare || pattern.reach == acl::Pattern::Reach::tunnel;
  if (is_name && is_tls) return host;
  return reader.error(node, in_quotes(pattern.text()) + " cannot be opened", hint);
}

std::optional<PlacedPattern> read_request_host(const Node& node, const Reader& reader) {
  return read_opened_host(node, reader, "write a name, .name or *.name, with or without a port");
}

// One name: what is used there is counted together.
std::optional<PlacedPattern> read_budget_host(const Node& node, const Reader& reader) {
  auto host = PatternElement::read(node, reader);
  if (!host) return std::nullopt;
  if (host->pattern.kind == acl::Pattern::Kind::exact &&
      host->pattern.reach == acl::Pattern::Reach::bare) {
    return host;
  }
  return reader.error(node, in_quotes(host->pattern.text()) + " is not one host",
                      "write its name, without a port");
}

template <class Pattern>
std::optional<Pattern> read_pattern(const Node& node, const Reader& reader) {
  const auto* text = node.as<std::string>();
  if (text == nullptr) return reader.wrong_type(node, "a string");
  auto pattern = Pattern::parse(*text);
  if (!pattern) return reader.error(node, pattern.error().message);
  return std::move(*pattern);
}

// Those that only capabilities have come last.
constexpr std::array request_fields{
    field<&RequestSettings::host, read_request_host>("host"),
    field<&RequestSettings::methods, List<MethodElement>::read>("methods"),
    field<&RequestSettings::paths, List<PathPatternElement>::read>("paths"),
    field<&RequestSettings::max_body, Budget::read>("max_body"),
    field<&RequestSettings::websocket, Boolean::read>("websocket"),
    field<&RequestSettings::keep_headers, List<HeaderNameElement>::read>("keep_headers"),
    field<&RequestSettings::queries, List<QueryElement>::read>("query"),
    field<&RequestSettings::plain_http, Boolean::read>("plain_http"),
    field<&RequestSettings::refs, List<RefElement>::read>("refs"),
    field<&RequestSettings::graphql_query, Boolean::read>("graphql_query"),
};
constexpr std::size_t own_request_fields = 6;

std::optional<RequestSettings> read_request(const Node& node, const Reader& reader,
                                            std::span<const Field<RequestSettings>> fields) {
  const auto* table = node.as<Node::Table>();
  if (table == nullptr) return reader.wrong_type(node, "a table");
  RequestSettings request;
  bool is_good = true, has_host = false;
  for (const auto& member : *table) {
    const auto* const found = find_field(fields, member.key);
    if (found == nullptr) unknown_member(member, reader, names_of(fields));
    has_host = has_host || member.key == "host";
    is_good = found != nullptr && found->read(member.value, reader, request) && is_good;
  }
  if (!has_host) return reader.error(node, "host is missing");
  if (is_good && request.methods.empty()) return reader.error(node, "methods must not be empty");
  return is_good ? std::optional{std::move(request)} : std::nullopt;
}

}  // namespace

std::optional<std::string> PathOrNone::read(const Node& node, const Reader& reader) {
  const auto* text = node.as<std::string>();
  return text != nullptr && text->empty() ? std::optional{*text} : Path::read(node, reader);
}

std::optional<std::string> SecretName::read(const Node& node, const Reader& reader) {
  return AgentId::read(node, reader);
}

std::optional<std::string> HeaderName::read(const Node& node, const Reader& reader) {
  return HeaderNameElement::read(node, reader);
}

std::optional<std::string> SecretFormat::read(const Node& node, const Reader& reader) {
  auto text = Text::read(node, reader);
  if (!text) return std::nullopt;
  const auto hole = text->find("{}");
  const bool is_text =
      std::all_of(text->begin(), text->end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  if (!is_text || hole == std::string::npos || text->find("{}", hole + 1) != std::string::npos) {
    return reader.error(node, in_quotes(*text) + " does not contain {} once", "like \"Bearer {}\"");
  }
  return text;
}

std::optional<bool> OwnWord::read(const Node& node, const Reader& reader) {
  const auto* word = node.as<std::string>();
  if (word == nullptr) return reader.wrong_type(node, type);
  if (*word == "replace") return false;
  if (*word == "refuse") return true;
  return reader.error(node, in_quotes(*word) + " is not " + std::string{type});
}

std::optional<bool> ScanAction::read(const Node& node, const Reader& reader) {
  const auto* word = node.as<std::string>();
  if (word == nullptr) return reader.wrong_type(node, type);
  if (*word == "refuse") return false;
  if (*word == "log") return true;
  return reader.error(node, in_quotes(*word) + " is not " + std::string{type});
}

std::optional<std::string> ScanPattern::read(const Node& node, const Reader& reader) {
  const auto* text = node.as<std::string>();
  if (text == nullptr) return reader.wrong_type(node, "a string");
  const std::string fault = scan::pattern_fault(*text);
  if (!fault.empty()) {
    return reader.error(node, in_quotes(*text) + " cannot be used: " + fault,
                        "the syntax is that of re2; write it in single quotes");
  }
  return *text;
}

std::optional<PlacedPattern> SecretHostElement::read(const Node& node, const Reader& reader) {
  auto host = read_opened_host(node, reader, "write a name or *.name, with or without a port");
  if (host && host->pattern.kind == acl::Pattern::Kind::suffix) {
    return reader.error(node, in_quotes(host->pattern.text()) + " is too wide for a secret",
                        "write the name and *.name");
  }
  return host;
}

std::optional<acl::PathPattern> PathPatternElement::read(const Node& node, const Reader& reader) {
  return read_pattern<acl::PathPattern>(node, reader);
}

std::optional<std::string> MethodElement::read(const Node& node, const Reader& reader) {
  const auto* text = node.as<std::string>();
  if (text == nullptr) return reader.wrong_type(node, "a string");
  const bool is_method =
      !text->empty() && text->size() <= 32 &&
      std::all_of(text->begin(), text->end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (is_method || *text == "*") return *text;
  return reader.error(node, in_quotes(*text) + " is not a method",
                      "methods are in capitals; \"*\" is any");
}

std::optional<std::string> QueryElement::read(const Node& node, const Reader& reader) {
  auto text = Text::read(node, reader);
  if (!text) return std::nullopt;
  const bool is_query =
      std::all_of(text->begin(), text->end(), [](char c) { return c > 0x20 && c < 0x7f; }) &&
      text->find_first_of("?#") == std::string::npos;
  if (is_query) return text;
  return reader.error(node, in_quotes(*text) + " is not a query",
                      "write it as clients send it, without the ?");
}

std::optional<acl::RefPattern> RefElement::read(const Node& node, const Reader& reader) {
  return read_pattern<acl::RefPattern>(node, reader);
}

std::optional<CanSettings> CanElement::read(const Node& node, const Reader& reader) {
  auto text = Text::read(node, reader);
  if (!text) return std::nullopt;
  return CanSettings{std::move(*text), node.position.line, node.position.column};
}

std::optional<RequestSettings> RequestElement::read(const Node& node, const Reader& reader) {
  return read_request(node, reader, std::span{request_fields}.first(own_request_fields));
}

std::optional<RequestSettings> CapabilityRequestElement::read(const Node& node,
                                                              const Reader& reader) {
  auto request = read_request(node, reader, request_fields);
  if (!request) return std::nullopt;
  const auto is_reading = [](const std::string& method) {
    return method == "GET" || method == "HEAD";
  };
  // A client has no use for a body here, but it could carry data out.
  const auto& methods = request->methods;
  if (!request->max_body && std::all_of(methods.begin(), methods.end(), is_reading)) {
    request->max_body = 0;
  }
  return request;
}

std::optional<BudgetSettings> BudgetElement::read(const Node& node, const Reader& reader) {
  const auto* table = node.as<Node::Table>();
  if (table == nullptr) return reader.wrong_type(node, "a table");
  constexpr std::int64_t most = std::int64_t{1} << 52U;
  BudgetSettings budget;
  bool is_good = true, has_host = false, has_limit = false;
  for (const Member& member : *table) {
    const std::string& key = member.key;
    if (key == "host") {
      has_host = true;
      auto host = read_budget_host(member.value, reader);
      is_good = host.has_value() && is_good;
      if (host) budget.host = std::move(*host);
      continue;
    }
    auto* place = key == "max_requests"          ? &budget.max_requests
                  : key == "requests_per_minute" ? &budget.requests_per_minute
                  : key == "tokens"              ? &budget.tokens
                                                 : nullptr;
    if (place == nullptr) {
      unknown_member(member, reader, {"host", "max_requests", "requests_per_minute", "tokens"});
      is_good = false;
      continue;
    }
    has_limit = true;
    const auto number = read_integer(member.value, reader, 1, most);
    is_good = number.has_value() && is_good;
    if (number) *place = static_cast<std::uint64_t>(*number);
  }
  if (!has_host) return reader.error(node, "host is missing");
  if (is_good && !has_limit) {
    return reader.error(node, "it limits nothing",
                        "set max_requests, requests_per_minute or tokens");
  }
  return is_good ? std::optional{std::move(budget)} : std::nullopt;
}

std::string BudgetElement::print(const Value& value) {
  std::string out = "{host = " + PatternElement::print(value.host);
  const auto add = [&out](std::string_view key, const std::optional<std::uint64_t>& number) {
    if (number) out.append(", ").append(key).append(" = ").append(std::to_string(*number));
  };
  add("max_requests", value.max_requests);
  add("requests_per_minute", value.requests_per_minute);
  add("tokens", value.tokens);
  return out + '}';
}

std::string RequestElement::print(const Value& value) {
  std::string out = "{host = " + PatternElement::print(value.host) +
                    ", methods = " + List<MethodElement>::print(value.methods);
  if (!value.paths.empty()) out += ", paths = " + List<PathPatternElement>::print(value.paths);
  if (value.max_body) out += ", max_body = " + Budget::print(value.max_body);
  if (value.websocket) out += ", websocket = true";
  if (!value.keep_headers.empty()) {
    out += ", keep_headers = " + List<HeaderNameElement>::print(value.keep_headers);
  }
  if (!value.queries.empty()) out += ", query = " + List<QueryElement>::print(value.queries);
  if (!value.refs.empty()) out += ", refs = " + List<RefElement>::print(value.refs);
  if (value.plain_http) out += ", plain_http = true";
  if (value.graphql_query) out += ", graphql_query = true";
  return out + '}';
}

}  // namespace stile::config
