// to_toml: converts a squid.conf to a stile.toml with the same meaning.
#include "squid/to_toml.h"

#include <algorithm>
#include <map>

#include "base/quoted.h"
#include "squid/compile.h"
#include "squid/flatten.h"
#include "squid/parser.h"

namespace stile::squid {
namespace {

// stile.toml lists ports one by one.
constexpr std::size_t max_ports = 64;

template <class List, class Print>
std::string array(const List& list, Print&& print) {
  std::string out = "[";
  for (const auto& item : list) {
    if (out.size() > 1) out += ", ";
    out += print(item);
  }
  return out + "]";
}

std::string strings(const std::vector<std::string>& list) {
  return array(list, [](const std::string& text) { return quoted_literal(text); });
}

std::string numbers(const std::vector<std::uint16_t>& list) {
  return array(list, [](std::uint16_t number) { return std::to_string(number); });
}

// The patterns of the named acls, and the list files that they read.
struct Names {
  std::vector<std::string> patterns, files;
};

class Printer {
 public:
  explicit Printer(const Conf& conf) : conf_{conf} {}
  config::Checked<std::string> run();

 private:
  void print_server();
  void print_agent(const SourceGroup& group, const std::vector<Way>& ways);
  void print_by_port(const std::vector<Way>& ways);
  [[nodiscard]] Names names_of(const std::vector<std::string>& acls) const;
  [[nodiscard]] std::string id_of(const SourceGroup& group);
  [[nodiscard]] std::vector<std::uint16_t> ports_of(const std::vector<Way>& ways,
                                                    acl::Scheme scheme);
  void key(const std::string& name, const std::string& value) {
    out_ += name + " = " + value + "\n";
  }
  // Reports every rule that the way came from, each with its line.
  void refuse(const Way& way, const std::string& why) {
    for (const AccessLine* line : way.lines) problems_.error(line->place, line->text, why);
  }

  const Conf& conf_;
  std::string out_;
  config::Diagnostics problems_;
  std::map<std::string, int> ids_;
};

void Printer::print_server() {
  out_ += "# From " + conf_.file + " by stile import-squid.\n";
  for (const std::string& note : conf_.notes) out_ += "# " + note + "\n";
  out_ += "\n[server]\n";
  key("listen", array(conf_.listen, [](const auto& e) { return quoted_literal(e.text()); }));
  key("metrics", quoted_literal(conf_.metrics ? conf_.metrics->text() : ""));
  if (!conf_.user.empty()) key("user", quoted_literal(conf_.user));

  out_ += "\n[egress]\n";
  if (!conf_.checks_sni) key("sni", quoted_literal("off"));
  if (!conf_.private_exceptions.empty()) {
    key("private_exceptions", array(conf_.private_exceptions,
                                    [](const auto& e) { return quoted_literal(e.prefix.text()); }));
  }
  auto stripped = conf_.denied_headers;
  if (!conf_.adds_via) stripped.emplace_back("via");
  if (!conf_.passes_forwarded_for) stripped.emplace_back("x-forwarded-for");
  key("strip_request_headers", strings(stripped));

  out_ += "\n[dns]\n";
  if (!conf_.dns_servers.empty()) {
    key("servers",
        array(conf_.dns_servers, [](const auto& e) { return quoted_literal(e.text()); }));
  }
  key("hosts_file", quoted_literal(conf_.hosts_file));

  out_ += "\n[limits]\n";
  key("connections_per_agent", "65536");  // squid has no such limits
  key("requests_per_second", "0");
  key("connect_timeout_ms", std::to_string(conf_.connect_timeout.count()));
  key("drain_timeout_ms",
      std::to_string(std::max<std::int64_t>(conf_.shutdown_lifetime.count(), 1)));

  out_ += "\n[audit]\n";
  if (conf_.log_style != LogStyle::none && conf_.log_style != LogStyle::squid) {
    out_ += "# The format of the access_log is not carried over; this is squid's native one.\n";
  }
  key("path", quoted_literal(conf_.log_style == LogStyle::none ? "/dev/null" : conf_.log_path));
  key("format", quoted_literal("squid"));
}

Names Printer::names_of(const std::vector<std::string>& acls) const {
  Names names;
  for (const std::string& name : acls) {
    const Acl& acl = *conf_.find(name);
    for (const auto& [pattern, line] : acl.domain_patterns)
      names.patterns.push_back(pattern.text());
    for (const auto& [pattern, line] : acl.regexes) names.patterns.push_back(pattern.text());
    names.files.insert(names.files.end(), acl.domain_files.begin(), acl.domain_files.end());
  }
  return names;
}

std::string Printer::id_of(const SourceGroup& group) {
  std::string id = "all";
  for (const std::string& acl : group.acls) {
    if (acl != "all") {
      id = agent_name(acl);
      break;
    }
  }
  std::erase_if(
      id, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'); });
  id.erase(0, std::min(id.find_first_not_of('-'), id.size()));
  id = id.substr(0, 60);
  while (id.ends_with('-')) id.pop_back();
  if (id.empty()) id = "agent";
  const int count = ++ids_[id];
  return count == 1 ? id : id + "-" + std::to_string(count);
}

std::vector<std::uint16_t> Printer::ports_of(const std::vector<Way>& ways, acl::Scheme scheme) {
  std::vector<std::uint16_t> ports;
  for (const Way& way : ways) {
    if (way.scheme != scheme) continue;
    if (std::size_t{way.last_port} - way.first_port + ports.size() >= max_ports) {
      refuse(
          way,
          "allows " + std::string(scheme == acl::Scheme::tunnel ? "CONNECT" : "plain HTTP") +
              " to ports " + std::to_string(way.first_port) + "-" + std::to_string(way.last_port) +
              "; stile.toml lists ports one by one, and has room for " + std::to_string(max_ports));
      return {};
    }
    for (std::uint32_t port = way.first_port; port <= way.last_port; ++port) {
      ports.push_back(static_cast<std::uint16_t>(port));
    }
  }
  return ports;
}

// The ways differ: each pattern has its own port.
void Printer::print_by_port(const std::vector<Way>& ways) {
  std::vector<std::string> allow;
  for (const Way& way : ways) {
    const Names names = names_of(way.lists.allow);
    const bool has_regex = std::any_of(names.patterns.begin(), names.patterns.end(),
                                       [](const auto& text) { return text.starts_with('~'); });
    if (way.lists.allows_all || !names.files.empty() || has_regex ||
        way.lists.deny != ways.front().lists.deny) {
      refuse(way,
             "allows other names on other ports; stile.toml can express that only for names "
             "in the config itself, and not for denied names");
      continue;
    }
    for (std::uint32_t port = way.first_port; port <= way.last_port; ++port) {
      const bool is_tunnel = way.scheme == acl::Scheme::tunnel;
      for (const std::string& name : names.patterns) {
        allow.push_back((is_tunnel ? "" : "http://") + name + ":" + std::to_string(port));
      }
    }
  }
  key("ports", "[]");
  key("http_ports", "[]");
  key("allow", strings(allow));
}

void Printer::print_agent(const SourceGroup& group, const std::vector<Way>& ways) {
  const auto ports = ports_of(ways, acl::Scheme::tunnel);
  const auto http_ports = ports_of(ways, acl::Scheme::http);
  out_ += "\n[[agent]]\n";
  key("id", quoted_literal(id_of(group)));
  key("source",
      array(group.prefixes, [](const auto& prefix) { return quoted_literal(prefix.text()); }));
  const bool are_alike = std::all_of(
      ways.begin(), ways.end(), [&](const Way& way) { return way.lists == ways.front().lists; });
  const Lists& lists = ways.front().lists;
  if (are_alike) {
    key("ports", numbers(ports));
    key("http_ports", numbers(http_ports));
    const Names allow = names_of(lists.allow);
    key("allow", lists.allows_all ? "[\"*\"]" : strings(allow.patterns));
    if (!lists.allows_all && !allow.files.empty()) key("allow_files", strings(allow.files));
  } else {
    print_by_port(ways);
  }
  const Names deny = names_of(lists.deny);
  if (!deny.patterns.empty()) key("deny", strings(deny.patterns));
  if (!deny.files.empty()) key("deny_files", strings(deny.files));
}

config::Checked<std::string> Printer::run() {
  if (conf_.literals_pass) {
    problems_.error(conf_.literals_place, "# stile: ip_literals = allow",
                    "stile.toml names each such address in allow_ip");
  }
  print_server();
  for (const SourceGroup& group : group_sources(conf_)) {
    const auto ways = flatten(conf_, group, problems_);
    if (!ways.empty()) print_agent(group, ways);
  }
  if (problems_.has_errors()) {
    problems_.sort();
    return problems_;
  }
  return config::Checked<std::string>{boost::system::in_place_value, std::move(out_)};
}

}  // namespace

config::Checked<std::string> to_toml(const Conf& conf) { return Printer{conf}.run(); }

}  // namespace stile::squid
