// Parser: `acl` and `http_access`.
#include <algorithm>
#include <charconv>

#include "acl/pattern.h"
#include "base/ascii.h"
#include "base/quoted.h"
#include "squid/directives.h"
#include "squid/parser.h"
#include "squid/posix_regex.h"

namespace stile::squid {
namespace {

// squid's ACL_NAME_SZ, without the terminating byte.
constexpr std::size_t max_name_bytes = 63;

std::optional<std::pair<std::uint16_t, std::uint16_t>> parse_ports(std::string_view text) {
  const auto number = [](std::string_view part) -> std::optional<std::uint16_t> {
    std::uint16_t value = 0;
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (problem != std::errc{} || end != part.data() + part.size()) return std::nullopt;
    return value;
  };
  const std::size_t hyphen = text.find('-');
  const auto first = number(text.substr(0, hyphen));
  const auto last = hyphen == text.npos ? first : number(text.substr(hyphen + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return std::pair{*first, *last};
}

// One line of a list file without blanks and without a trailing comment.
std::string_view value_of(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == line.npos || line[begin] == '#') return {};
  line.remove_prefix(begin);
  std::size_t end = line.size();
  for (std::size_t at = line.find('#'); at != line.npos; at = line.find('#', at + 1)) {
    if (line[at - 1] == ' ' || line[at - 1] == '\t') {
      end = at;
      break;
    }
  }
  line = line.substr(0, end);
  return line.substr(0, line.find_last_not_of(" \t") + 1);
}

}  // namespace

void Parser::add_built_in_acls() {
  const auto add = [&](const char* name, const char* type,
                       std::initializer_list<const char*> addresses = {}) -> Acl& {
    acl_index_.emplace(name, conf_.acls.size());
    Acl& acl = conf_.acls.emplace_back(name, type, config::Place{});
    acl.is_built_in = true;
    for (const char* text : addresses) static_cast<void>(acl.addresses.add(text));
    return acl;
  };
  add("all", "src", {"all"});
  add("manager", "url_regex");
  add("localhost", "src", {"127.0.0.1", "::1"});
  add("to_localhost", "dst", {"127.0.0.0/8", "0.0.0.0", "::1", "::"});
  add("to_linklocal", "dst", {"169.254.0.0/16", "fe80::/10"});
  add("CONNECT", "method").methods = {"CONNECT"};
}

Acl* Parser::find_acl(std::string_view name) {
  const auto found = acl_index_.find(std::string{name});
  return found == acl_index_.end() ? nullptr : &conf_.acls[found->second];
}

// The acl that a line defines or extends.
Acl* Parser::acl_of(const Directive& line) {
  const std::string& name = line.words[0];
  const std::string& type = line.words[1];
  constexpr std::string_view understood[] = {"src",          "dst",  "dstdomain",
                                             "dstdom_regex", "port", "method"};
  const bool is_known =
      std::find(std::begin(understood), std::end(understood), type) != std::end(understood);
  if (!is_known && !is_foreign_acl_type(type)) {
    error(line, "there is no acl type " + type);
    return nullptr;
  }
  if (Acl* old = find_acl(name)) {
    if (old->type == type) return old;
    error(line, "acl " + name + " is of type " + old->type + " already");
    return nullptr;
  }
  if (name.size() > max_name_bytes) {
    error(line, "the name of an acl has at most 63 bytes");
    return nullptr;
  }
  acl_index_.emplace(name, conf_.acls.size());
  Acl& fresh = conf_.acls.emplace_back(name, type, line.place);
  fresh.is_foreign = !is_known;
  return &fresh;
}

void Parser::acl(const Directive& line) {
  if (line.words.size() < 2) return error(line, "is written as: acl NAME TYPE VALUE…");
  // Old files define it themselves; squid ignores that too.
  if (line.words[0] == "manager") return note("acl manager is built in; its definition is ignored");
  if (Acl* found = acl_of(line); found != nullptr && !found->is_foreign) add_values(*found, line);
}

void Parser::add_values(Acl& acl, const Directive& line) {
  bool ignore_case = false;
  bool has_value = false;  // after a value, squid reads -n as a value, too
  for (std::size_t i = 2; i < line.words.size(); ++i) {
    const std::string& word = line.words[i];
    if (word == "-n" && !has_value &&
        (acl.type == "dst" || acl.type == "dstdomain" || acl.type == "dstdom_regex")) {
      if (acl.type == "dst") error(line, "-n is not supported for dst: names are resolved");
      continue;  // reverse lookups are never made
    }
    if ((word == "-i" || word == "+i") && acl.type == "dstdom_regex") {
      ignore_case = word == "-i";
    } else if (word.starts_with('-') || word.starts_with('+') || word == "--") {
      error(line, "there is no option " + word + " for an acl of type " + acl.type);
    } else if (word.starts_with('"') || word.starts_with('\'')) {
      if (i + 1 < line.words.size()) {
        return error(line, "squid reads nothing behind a file name; put it on a line of its own");
      }
      add_file(acl, line, word, ignore_case);
    } else {
      add_value(acl, word, line.place, ignore_case);
      has_value = true;
    }
  }
}

void Parser::add_file(Acl& acl, const Directive& line, std::string_view quoted, bool ignore_case) {
  const std::string name{quoted.substr(1, quoted.size() - 2)};
  if (quoted.size() < 3 || quoted.back() != quoted.front() ||
      name.find_first_of("\"'") != name.npos) {
    return error(line, "a file is written as \"/path/without/blanks\"");
  }
  const auto text = files_.read(name);
  if (!text) return error(line, text.error().message);
  if (acl.type == "dstdomain") acl.domain_files.push_back(name);
  is_in_list_ = true;
  config::Place place{name, 0, 0};
  constexpr std::size_t enough = 20;
  const std::size_t before = problems_.error_count();
  for (std::string_view rest{*text}; !rest.empty() && problems_.error_count() < before + enough;) {
    const std::size_t end = rest.find('\n');
    const std::string_view value = value_of(rest.substr(0, end));
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    ++place.line;
    if (value.empty()) continue;
    if (acl.type == "dstdom_regex" && (value == "-i" || value == "+i")) {
      ignore_case = value == "-i";
    } else {
      add_value(acl, std::string{value}, place, ignore_case);
    }
  }
  is_in_list_ = false;
}

void Parser::add_value(Acl& acl, const std::string& value, const config::Place& place,
                       bool ignore_case) {
  const std::string key = "acl " + printable(acl.name);
  const auto refuse = [&](const std::string& why) { problems_.error(place, key, printable(why)); };
  const auto remark = [&](const Result<Remark>& added) {
    if (!added) return refuse(added.error().message);
    if (!added->text.empty()) problems_.warning(place, key, printable(added->text));
  };
  if (acl.type == "src" || acl.type == "dst") {
    remark(acl.addresses.add(value));
  } else if (acl.type == "dstdomain") {
    const std::string lower = lower_case(value);
    const auto added = acl.domains.add(lower, place.line);
    remark(added);
    if (!added || !added->text.empty()) return;
    const auto pattern = acl::Pattern::parse(lower);
    if (pattern && !is_in_list_) acl.domain_patterns.push_back({*pattern, place.line});
  } else if (acl.type == "dstdom_regex") {
    auto pattern = translate_regex(value, ignore_case);
    if (!pattern) return refuse(pattern.error().message);
    acl.regexes.push_back({std::move(*pattern), place.line});
  } else if (acl.type == "port") {
    const auto range = parse_ports(value);
    if (!range) return refuse("'" + value + "' is not a port or a range of ports");
    acl.ports.push_back(*range);
  } else {
    acl.methods.push_back(value);
  }
}

void Parser::http_access(const Directive& line) {
  if (line.words.size() < 2 || (line.words[0] != "allow" && line.words[0] != "deny")) {
    return error(line, "is written as: http_access allow|deny [!]ACL…");
  }
  AccessLine access{line.place, line.words[0] == "allow", {}, line.text()};
  for (std::size_t i = 1; i < line.words.size(); ++i) {
    const bool is_negated = line.words[i].starts_with('!');
    const std::string name = line.words[i].substr(is_negated ? 1 : 0);
    const Acl* found = find_acl(name);
    if (found == nullptr) {
      error(line, "there is no acl " + name + " above this line");
    } else if (found->is_foreign) {
      error(line, "acl " + name + " is of type " + found->type + ", which Stile does not have");
    }
    access.terms.push_back({name, is_negated});
  }
  conf_.access.push_back(std::move(access));
}

}  // namespace stile::squid
