// Parsing and printing of patterns.
#include "acl/pattern.h"

#include <algorithm>

#include "acl/address.h"
#include "acl/regex_set.h"
#include "base/ascii.h"
#include "base/decimal.h"
#include "base/quoted.h"

namespace stile::acl {
namespace {

constexpr std::uint16_t default_http_port = 80;

bool is_printable(char c) noexcept { return c > 0x20 && c < 0x7f; }

Error bad(std::string_view text, std::string_view why) {
  return Error{in_quotes(text) + ": " + std::string{why}};
}

constexpr std::string_view literal_hint =
    "is an IP address; patterns are names, and addresses belong in allow_ip";

// Why the name of a pattern is not a host name.
Error bad_name(std::string_view text, std::string_view name) {
  const auto is_wrong = [](char c) { return !is_printable(c) && static_cast<signed char>(c) >= 0; };
  if (std::any_of(name.begin(), name.end(),
                  [](char c) { return static_cast<signed char>(c) < 0; })) {
    return bad(text, "not ASCII; write an international name in its xn-- form");
  }
  if (std::any_of(name.begin(), name.end(), is_wrong)) {
    return bad(text, "patterns cannot contain whitespace or control characters");
  }
  if (name.find('*') != std::string_view::npos) {
    return bad(text,
               "'*' must be alone or the whole first label (*.example.com); for more, "
               "write a regex (~^api-[0-9]+\\.example\\.com$)");
  }
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty()) return bad(text, "this pattern has no name");
  if (name.size() > Host::max_length) return bad(text, "the name is longer than 253 bytes");
  while (true) {
    const std::string_view label = name.substr(0, name.find('.'));
    if (label.empty()) return bad(text, "a label of the name is empty");
    if (label.size() > Host::max_label) return bad(text, "a label is longer than 63 bytes");
    if (label.front() == '-' || label.back() == '-') {
      return bad(text, "a label begins or ends with '-'");
    }
    const auto wrong = std::find_if(label.begin(), label.end(), [](char c) {
      return !is_letter(c) && !is_digit(c) && c != '-' && c != '_';
    });
    if (wrong != label.end()) {
      return bad(text, std::string{"'"} + *wrong + "' is not allowed in a host name");
    }
    if (label.size() == name.size()) break;
    name.remove_prefix(label.size() + 1);
  }
  return bad(text, "not a host name");
}

bool ends_like_a_port(std::string_view text) noexcept {
  const std::size_t colon = text.rfind(':');
  return colon != std::string_view::npos && colon + 1 < text.size() &&
         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(colon) + 1, text.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

Result<PatternView> parse_regex(std::string_view text) {
  PatternView view;
  view.kind = Pattern::Kind::regex;
  view.regex = text.substr(1);
  if (view.regex.empty()) return bad(text, "no expression follows '~'");
  if (view.regex.size() > Pattern::max_regex_length) {
    return bad(text, "a regex is at most " + std::to_string(Pattern::max_regex_length) + " bytes");
  }
  if (!std::all_of(view.regex.begin(), view.regex.end(), is_printable)) {
    return bad(text, "a regex must be printable ASCII without whitespace, as host names are");
  }
  if (ends_like_a_port(view.regex)) {
    return bad(text, "a regex carries no port; it covers `ports` and `http_ports`");
  }
  const std::string fault = RegexSet::fault(view.regex);
  if (!fault.empty()) return bad(text, "not a regular expression of RE2: " + fault);
  return view;
}

// Removes "scheme://" from the front of `rest` and returns the reach.
Result<Pattern::Reach> take_scheme(std::string_view text, std::string_view& rest) {
  const std::size_t end = rest.find("://");
  if (end == std::string_view::npos) return Pattern::Reach::bare;
  const std::string scheme = lower_case(rest.substr(0, end));
  rest.remove_prefix(end + 3);
  if (scheme == "http") return Pattern::Reach::http;
  if (scheme == "tcp") return Pattern::Reach::tcp;
  if (scheme == "https") {
    return bad(text,
               "https goes through a tunnel: write the bare name for the ports of `ports`, "
               "or name:port");
  }
  return bad(text, "the schemes of patterns are http:// and tcp://");
}

// Removes ":port" from the end of `rest`.
Result<std::uint16_t> take_port(std::string_view text, std::string_view& rest,
                                Pattern::Reach reach) {
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos) {
    if (reach == Pattern::Reach::tcp) return bad(text, "a tcp:// pattern needs a port");
    return reach == Pattern::Reach::http ? default_http_port : std::uint16_t{0};
  }
  const auto port = parse_port(rest.substr(colon + 1));
  if (!port) return bad(text, "the port must be a number from 1 to 65535");
  rest = rest.substr(0, colon);
  return *port;
}

Pattern::Kind take_kind(std::string_view& rest) noexcept {
  if (rest == "*") return Pattern::Kind::any;
  if (rest.starts_with("*.")) {
    rest.remove_prefix(2);
    return Pattern::Kind::below;
  }
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    return Pattern::Kind::suffix;
  }
  return Pattern::Kind::exact;
}

}  // namespace

Result<PatternView> Pattern::parse_view(std::string_view text) {
  if (text.empty()) return bad(text, "the pattern is empty");
  if (text[0] == '~') return parse_regex(text);

  std::string_view rest = text;
  const auto scheme = take_scheme(text, rest);
  if (!scheme) return scheme.error();
  PatternView view;
  view.reach = *scheme;
  if (rest.starts_with('~')) return bad(text, "a scheme goes with a name, not with a regex");
  // Not find_first_of: it calls memchr for every byte, which took half the time of reading a list.
  const auto is_path_mark = [](char c) { return c == '/' || c == '?' || c == '#'; };
  const auto is_bracket = [](char c) { return c == '[' || c == ']'; };
  if (std::any_of(rest.begin(), rest.end(), is_path_mark)) {
    return bad(text, Prefix::parse(rest) ? literal_hint : "a pattern has no path");
  }
  if (std::any_of(rest.begin(), rest.end(), is_bracket) ||
      std::count(rest.begin(), rest.end(), ':') > 1) {
    return bad(text, literal_hint);
  }
  const auto port = take_port(text, rest, view.reach);
  if (!port) return port.error();
  view.port = *port;
  if (view.reach == Reach::bare && view.port != 0) view.reach = Reach::tunnel;

  view.kind = take_kind(rest);
  if (view.kind == Kind::any) {
    if (view.reach == Reach::bare) return view;
    return bad(text, "'*' takes no port and no scheme; use `ports` and `http_ports`");
  }
  if (view.reach == Reach::tcp && view.kind != Kind::exact) {
    return bad(text, "a tcp:// pattern names one host, without '.' or '*' before it");
  }
  const HostParse parse = parse_host(rest);
  if (parse.kind == HostParse::Kind::ip_literal) return bad(text, literal_hint);
  if (parse.kind == HostParse::Kind::malformed) return bad_name(text, rest);
  view.host = parse.host;
  return view;
}

Result<Pattern> Pattern::parse(std::string_view text) {
  const auto view = parse_view(text);
  if (!view) return view.error();
  return Pattern{view->kind, view->reach, view->port, std::string{view->name()}};
}

std::string Pattern::text() const { return pattern_text(kind, reach, port, name); }

std::string pattern_text(Pattern::Kind kind, Pattern::Reach reach, std::uint16_t port,
                         std::string_view name) {
  std::string out;
  if (reach == Pattern::Reach::http) out = "http://";
  if (reach == Pattern::Reach::tcp) out = "tcp://";
  switch (kind) {
    case Pattern::Kind::exact:
      break;
    case Pattern::Kind::suffix:
      out += '.';
      break;
    case Pattern::Kind::below:
      out += "*.";
      break;
    case Pattern::Kind::any:
      return out + '*';
    case Pattern::Kind::regex:
      out += '~';
      break;
  }
  out += name;
  const bool is_default =
      reach == Pattern::Reach::bare || (reach == Pattern::Reach::http && port == default_http_port);
  if (is_default) return out;
  out += ':';
  append_decimal(out, port);
  return out;
}

bool covers_names(Pattern::Kind wide, std::string_view wide_name, Pattern::Kind narrow,
                  std::string_view narrow_name) noexcept {
  using Kind = Pattern::Kind;
  if (wide == Kind::any) return true;
  if (wide == Kind::regex || narrow == Kind::regex) {
    return wide == narrow && wide_name == narrow_name;
  }
  if (narrow == Kind::any) return false;
  if (wide == Kind::exact) return narrow == Kind::exact && wide_name == narrow_name;
  if (narrow_name == wide_name) return wide == Kind::suffix || narrow == Kind::below;
  return narrow_name.size() > wide_name.size() && narrow_name.ends_with(wide_name) &&
         narrow_name[narrow_name.size() - wide_name.size() - 1] == '.';
}

}  // namespace stile::acl
