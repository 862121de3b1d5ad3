// Parser: dispatches directives, and runs the checks at the end of the file.
#include "squid/parser.h"

#include <algorithm>

#include "base/quoted.h"
#include "config/endpoint.h"
#include "squid/directives.h"

namespace stile::squid {
namespace {

bool is_all(const Directive& line, std::string_view verb) {
  return line.words.size() == 2 && line.words[0] == verb && line.words[1] == "all";
}

// The host itself, and the cloud metadata service.
bool is_too_wide(const acl::Prefix& prefix) {
  if (prefix.first() == prefix.last()) return false;
  const auto touches = [&](const acl::Prefix& other) {
    return prefix.contains(other.first()) || other.contains(prefix.first());
  };
  for (const char* text :
       {"0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "::/96", "::ffff:0:0/96", "fe80::/10"}) {
    const auto closed = acl::Prefix::parse(text);
    if (closed && touches(*closed)) return true;
  }
  return false;
}

bool is_off(const Directive& line) {
  return line.words.size() == 1 && (line.words[0] == "off" || line.words[0] == "0");
}

}  // namespace

const Acl* Conf::find(std::string_view name) const {
  const auto found =
      std::find_if(acls.begin(), acls.end(), [&](const Acl& acl) { return acl.name == name; });
  return found == acls.end() ? nullptr : &*found;
}

Parser::Parser(const std::string& file, const Files& files) : files_{files} {
  conf_.file = file;
  add_built_in_acls();
}

config::Checked<Conf> Parser::run() {
  const Lines lines = read_lines(conf_.file, files_, problems_);
  for (const Directive& line : lines.lines) take(line);
  for (const Option& option : lines.options) take_option(option);
  if (problems_.has_errors()) return problems_;
  finish();
  if (problems_.has_errors()) return problems_;
  conf_.warnings = std::move(problems_);
  return std::move(conf_);
}

const std::unordered_map<std::string_view, Parser::Handler>& Parser::handlers() {
  static const std::unordered_map<std::string_view, Handler> table{
      {"acl", &Parser::acl},
      {"access_log", &Parser::access_log},
      {"cache_effective_group", &Parser::cache_effective_group},
      {"cache_effective_user", &Parser::cache_effective_user},
      {"cache_log", &Parser::cache_log},
      {"connect_timeout", &Parser::connect_timeout},
      {"dns_nameservers", &Parser::dns_nameservers},
      {"forwarded_for", &Parser::forwarded_for},
      {"hosts_file", &Parser::hosts_file},
      {"http_access", &Parser::http_access},
      {"http_port", &Parser::http_port},
      {"logformat", &Parser::logformat},
      {"pid_filename", &Parser::pid_filename},
      {"request_header_access", &Parser::request_header_access},
      {"shutdown_lifetime", &Parser::shutdown_lifetime},
      {"strip_query_terms", &Parser::strip_query_terms},
      {"via", &Parser::via},
      {"visible_hostname", &Parser::visible_hostname},
  };
  return table;
}

void Parser::take(const Directive& line) {
  const auto handler = handlers().find(line.name);
  if (handler != handlers().end()) return (this->*handler->second)(line);
  pass_over(line);
}

void Parser::pass_over(const Directive& line) {
  const auto only = [&](bool is_harmless, const std::string& form) {
    if (is_harmless) return;
    error(line,
          "changes what is let through, and is understood only as `" + line.name + form + "`");
  };
  switch (passed_over(line.name)) {
    case Passed::caching:
      return note(line.name + " has no effect: nothing is cached");
    case Passed::tuning:
      return note(line.name + " has no effect here");
    case Passed::if_allow_all:
      return only(is_all(line, "allow"), " allow all");
    case Passed::if_deny_all:
      return only(is_all(line, "deny"), " deny all");
    case Passed::if_off:
      return only(is_off(line), " off");
    case Passed::no:
      break;
  }
  const std::string meant = nearest_directive(line.name);
  error(line, "is not understood, and may change what is let through",
        meant.empty() ? std::string{} : "did you mean " + meant + "?");
}

void Parser::take_option(const Option& option) {
  const std::string key = "# stile: " + printable(option.name);
  const auto bad = [&](const std::string& why) { problems_.error(option.place, key, why); };
  if (option.name == "sni") {
    if (option.value != "off" && option.value != "match") return bad("is either off or match");
    conf_.checks_sni = option.value == "match";
  } else if (option.name == "ip_literals") {
    if (option.value != "allow" && option.value != "refuse") return bad("is allow or refuse");
    conf_.literals_pass = option.value == "allow";
    conf_.literals_place = option.place;
  } else if (option.name == "private_exceptions") {
    for (std::string word : split_words(option.value)) {
      if (word.ends_with(',')) word.pop_back();
      const auto prefix = acl::Prefix::parse(word);
      if (!prefix) return bad(prefix.error().message);
      if (is_too_wide(*prefix)) {
        return bad(word + " touches loopback or link-local addresses, which open only one by one");
      }
      conf_.private_exceptions.push_back({*prefix, {}});
    }
  } else if (option.name == "metrics") {
    const auto endpoint = config::parse_endpoint(option.value);
    if (!endpoint) return bad(endpoint.error().message);
    if (!endpoint->unix_path.empty()) return bad("is an address with a port");
    conf_.metrics = *endpoint;
  } else {
    bad("there is no such option; there are sni, ip_literals, private_exceptions and metrics");
  }
}

void Parser::finish() {
  if (conf_.listen.empty()) {
    problems_.file_error(conf_.file, "has no http_port");
  }
  if (conf_.access.empty()) {
    note("there is no http_access: everything is refused");
  }
  if (access_log_) open_access_log(*access_log_);
  for (const auto& [name, is_denied] : header_rules_) {
    if (is_denied) conf_.denied_headers.push_back(name);
  }
  for (const Acl& acl : conf_.acls) {
    const bool is_empty = acl.addresses.empty() && acl.domains.empty() && acl.regexes.empty() &&
                          acl.ports.empty() && acl.methods.empty();
    if (is_empty && !acl.is_built_in && !acl.is_foreign) {
      problems_.warning(acl.place, "acl " + acl.name, "has no value, so it never holds");
    }
  }
}

void Parser::error(const Directive& line, const std::string& problem, std::string hint) {
  problems_.error(line.place, printable(line.name), printable(problem), std::move(hint));
}

void Parser::note(std::string text) {
  if (noted_.insert(text).second) conf_.notes.push_back(std::move(text));
}

config::Checked<Conf> parse(const std::string& file, const Files& files) {
  return Parser{file, files}.run();
}

}  // namespace stile::squid
