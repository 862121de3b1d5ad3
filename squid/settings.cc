// Parser: the directives with one value each.
#include <charconv>
#include <set>

#include "base/ascii.h"
#include "config/endpoint.h"
#include "squid/parser.h"

namespace stile::squid {
namespace {

// Options of http_port that do not change who is served, or how.
bool is_harmless_port_option(std::string_view word) {
  static const std::set<std::string_view> words{
      "connection-auth",     "no-connection-auth",         "connection-auth=on",
      "connection-auth=off", "disable-pmtu-discovery=off", "tcpkeepalive"};
  return words.contains(word) || word.starts_with("name=") || word.starts_with("tcpkeepalive=") ||
         word.starts_with("disable-pmtu-discovery=");
}

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};
constexpr Unit units[] = {{"millisecond", 1},  {"second", 1000},    {"minute", 60'000},
                          {"hour", 3'600'000}, {"day", 86'400'000}, {"week", 604'800'000}};

}  // namespace

const std::string* Parser::one_word(const Directive& line) {
  if (line.words.size() == 1) return &line.words[0];
  error(line, "takes one value");
  return nullptr;
}

std::optional<bool> Parser::on_off(const Directive& line) {
  const std::string* word = one_word(line);
  if (word == nullptr) return std::nullopt;
  if (*word == "on" || *word == "off") return *word == "on";
  error(line, "is either on or off");
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> Parser::time(const Directive& line) {
  std::int64_t number = 0;
  if (line.words.size() == 2) {
    const std::string& digits = line.words[0];
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool is_number = problem == std::errc{} && end == digits.data() + digits.size();
    std::string_view name = line.words[1];
    if (name.ends_with('s')) name.remove_suffix(1);
    for (const Unit& unit : units) {
      if (is_number && number >= 0 && number <= 1'000'000 && unit.name == name) {
        return std::chrono::milliseconds{number * unit.milliseconds};
      }
    }
  }
  error(line, "is written as a number and a unit, such as 30 seconds");
  return std::nullopt;
}

void Parser::http_port(const Directive& line) {
  if (line.words.empty()) return error(line, "names no port");
  for (std::size_t i = 1; i < line.words.size(); ++i) {
    if (!is_harmless_port_option(line.words[i])) {
      return error(line, "the option " + line.words[i] + " is not supported");
    }
  }
  const std::string& word = line.words[0];
  if (const auto port = acl::parse_port(word)) {
    conf_.listen.push_back({acl::Address::v6({}), *port, {}});
    return;
  }
  const auto endpoint = config::parse_endpoint(word);
  if (!endpoint || !endpoint->unix_path.empty()) {
    return error(line, "'" + word + "' is neither a port nor address:port");
  }
  conf_.listen.push_back(*endpoint);
}

void Parser::request_header_access(const Directive& line) {
  if (line.words.size() != 3 || line.words[2] != "all" ||
      (line.words[1] != "allow" && line.words[1] != "deny")) {
    return error(line, "is supported as: request_header_access NAME allow|deny all");
  }
  const std::string name = lower_case(line.words[0]);
  if (name == "all" || name == "other") {
    return error(line, line.words[0] + " is not supported; name each header");
  }
  header_rules_.emplace(name, line.words[1] == "deny");  // the first line for a header decides
}

void Parser::strip_query_terms(const Directive& line) {
  if (const auto on = on_off(line); on && !*on) {
    note("strip_query_terms off has no effect: queries are never logged");
  }
}

void Parser::dns_nameservers(const Directive& line) {
  for (const std::string& word : line.words) {
    const auto server = config::parse_dns_server(word);
    if (!server) return error(line, server.error().message);
    conf_.dns_servers.push_back(*server);
  }
}

void Parser::hosts_file(const Directive& line) {
  if (const std::string* word = one_word(line)) conf_.hosts_file = *word == "none" ? "" : *word;
}

void Parser::pid_filename(const Directive& line) {
  if (const std::string* word = one_word(line)) conf_.pid_file = *word == "none" ? "" : *word;
}

void Parser::visible_hostname(const Directive& line) {
  if (one_word(line) != nullptr) note("visible_hostname has no effect: Via says stile");
}

void Parser::cache_effective_user(const Directive& line) {
  if (line.words.empty() || line.words.size() > 2) return error(line, "takes a user");
  conf_.user = line.words[0];
  if (line.words.size() == 2) conf_.group = line.words[1];
}

void Parser::cache_effective_group(const Directive& line) {
  if (const std::string* word = one_word(line)) conf_.group = *word;
}

void Parser::cache_log(const Directive& line) {
  if (const std::string* word = one_word(line)) conf_.cache_log = *word;
}

void Parser::forwarded_for(const Directive& line) {
  const std::string* word = one_word(line);
  if (word == nullptr) return;
  static const std::set<std::string_view> modes{"on", "off", "transparent", "delete", "truncate"};
  if (!modes.contains(*word)) return error(line, "is on, off, transparent, delete or truncate");
  conf_.passes_forwarded_for = *word == "transparent";
}

void Parser::via(const Directive& line) {
  if (const auto on = on_off(line)) conf_.adds_via = *on;
}

void Parser::connect_timeout(const Directive& line) {
  if (const auto value = time(line); value && value->count() > 0) conf_.connect_timeout = *value;
}

void Parser::shutdown_lifetime(const Directive& line) {
  if (const auto value = time(line)) conf_.shutdown_lifetime = *value;
}

}  // namespace stile::squid
