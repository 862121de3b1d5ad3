// Values of the settings that look inside TLS: secrets and request entries.
#include "config/inside_values.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/quoted.h"

namespace stile::config {
namespace {

constexpr std::array<std::string_view, 6> request_keys{"host",     "methods",   "paths",
                                                       "max_body", "websocket", "keep_headers"};

std::optional<PlacedPattern> read_request_host(const Node& node, const Reader& reader) {
  auto host = PatternElement::read(node, reader);
  if (!host) return std::nullopt;
  const acl::Pattern& pattern = host->pattern;
  const bool is_name = pattern.kind == acl::Pattern::Kind::exact ||
                       pattern.kind == acl::Pattern::Kind::suffix ||
                       pattern.kind == acl::Pattern::Kind::below;
  const bool is_tls =
      pattern.reach == acl::Pattern::Reach::bare || pattern.reach == acl::Pattern::Reach::tunnel;
  if (is_name && is_tls) return host;
  return reader.error(node, in_quotes(pattern.text()) + " cannot be opened",
                      "write a name, .name or *.name, with or without a port");
}

// False: the value is invalid and was reported.
template <class Values, class T>
bool take(const Node& node, const Reader& reader, T& place) {
  auto value = Values::read(node, reader);
  if (value) place = std::move(*value);
  return value.has_value();
}

bool read_request_key(const Member& member, const Reader& reader, RequestSettings& request) {
  const Node& value = member.value;
  if (member.key == "host") {
    auto host = read_request_host(value, reader);
    if (host) request.host = std::move(*host);
    return host.has_value();
  }
  if (member.key == "methods") return take<List<MethodElement>>(value, reader, request.methods);
  if (member.key == "paths") return take<List<PathPatternElement>>(value, reader, request.paths);
  if (member.key == "max_body") return take<Budget>(value, reader, request.max_body);
  if (member.key == "websocket") return take<Boolean>(value, reader, request.websocket);
  return take<List<HeaderNameElement>>(value, reader, request.keep_headers);
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

std::optional<PlacedPattern> SecretHostElement::read(const Node& node, const Reader& reader) {
  auto host = read_request_host(node, reader);
  if (host && host->pattern.kind == acl::Pattern::Kind::suffix) {
    return reader.error(node, in_quotes(host->pattern.text()) + " is too wide for a secret",
                        "write the name and *.name");
  }
  return host;
}

std::optional<acl::PathPattern> PathPatternElement::read(const Node& node, const Reader& reader) {
  const auto* text = node.as<std::string>();
  if (text == nullptr) return reader.wrong_type(node, "a string");
  auto pattern = acl::PathPattern::parse(*text);
  if (!pattern) return reader.error(node, pattern.error().message);
  return std::move(*pattern);
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

std::optional<RequestSettings> RequestElement::read(const Node& node, const Reader& reader) {
  const auto* table = node.as<Node::Table>();
  if (table == nullptr) return reader.wrong_type(node, "a table, [[agent.request]]");
  RequestSettings request;
  bool is_good = true, has_host = false;
  for (const auto& member : *table) {
    if (std::find(request_keys.begin(), request_keys.end(), member.key) == request_keys.end()) {
      reader.problems.error(
          reader.place(member.position), reader.key, "unknown key " + in_quotes(member.key),
          "the keys here are host, methods, paths, max_body, websocket and keep_headers");
      is_good = false;
      continue;
    }
    has_host = has_host || member.key == "host";
    is_good = read_request_key(member, reader, request) && is_good;
  }
  if (!has_host) return reader.error(node, "host is missing");
  if (is_good && request.methods.empty()) return reader.error(node, "methods must not be empty");
  return is_good ? std::optional{std::move(request)} : std::nullopt;
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
  return out + '}';
}

}  // namespace stile::config
