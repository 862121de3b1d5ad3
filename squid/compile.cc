// compile: turns a squid.conf into what the daemon runs.
#include "squid/compile.h"

#include <algorithm>
#include <utility>

#include "audit/log_format.h"
#include "base/ascii.h"
#include "squid/parser.h"

namespace stile::squid {
namespace {

Result<acl::Condition> make_condition(Acl& from) {
  using Kind = acl::Condition::Kind;
  acl::Condition condition;
  if (from.type == "src" || from.type == "dst") {
    condition.kind = from.type == "src" ? Kind::source : Kind::destination;
    condition.addresses = from.addresses.set();
  } else if (from.type == "dstdomain") {
    condition.kind = Kind::domain;
    condition.literals = from.domains.literals();
    condition.names = std::move(from.domains).build();
  } else if (from.type == "dstdom_regex") {
    condition.kind = Kind::domain_regex;
    acl::RuleSet::Builder rules{from.place.file};
    for (const auto& [pattern, line] : from.regexes) rules.add(pattern, line);
    const auto compiled = acl::RegexSet::compile({std::move(rules).build()});
    if (!compiled) return compiled.error();
    condition.regexes = *compiled;
  } else if (from.type == "port") {
    condition.kind = Kind::port;
    condition.ports = from.ports;
  } else if (from.type == "method") {
    condition.kind = Kind::method;
    condition.methods = from.methods;
  } else {
    condition.kind = Kind::manager;
  }
  return condition;
}

// The refusal reason when this line denies: the port, a rule that names the host, or a host that no
// rule allows.
acl::Reason refusal_of(const AccessLine& line, const Conf& conf) {
  auto reason = acl::Reason::host_not_allowed;
  for (const auto& term : line.terms) {
    const std::string& type = conf.find(term.acl)->type;
    if (type == "port") return acl::Reason::port_not_allowed;
    const bool names_host = type == "dstdomain" || type == "dstdom_regex" || type == "dst";
    if (names_host && !term.is_negated) reason = acl::Reason::host_denied;
  }
  return reason;
}

std::string agent_of(const AccessLine& line, const Conf& conf) {
  for (const auto& term : line.terms) {
    if (conf.find(term.acl)->type == "src") return agent_name(term.acl);
  }
  return "all";
}

config::Checked<std::shared_ptr<const acl::AccessList>> make_list(Conf& conf) {
  std::vector<acl::AccessRule> rules;
  for (const AccessLine& line : conf.access) {
    acl::AccessRule rule;
    rule.allows = line.allows;
    for (const auto& [name, is_negated] : line.terms) {
      const auto index = conf.find(name) - conf.acls.data();
      rule.terms.push_back({static_cast<std::uint32_t>(index), is_negated});
    }
    rule.text = line.text + " (" + line.place.file + ":" + std::to_string(line.place.line) + ")";
    rule.agent = agent_of(line, conf);
    rule.refusal = refusal_of(line, conf);
    rules.push_back(std::move(rule));
  }
  std::vector<acl::Condition> conditions;
  config::Diagnostics problems;
  for (Acl& acl : conf.acls) {
    auto condition = make_condition(acl);
    if (condition) {
      conditions.push_back(std::move(*condition));
    } else {
      problems.error(acl.place, "acl " + acl.name, condition.error().message);
    }
  }
  if (problems.has_errors()) return problems;
  acl::AccessRule end;
  end.text = "the end of http_access (" + conf.file + ")";
  end.agent = "all";
  auto list = std::make_shared<acl::AccessList>(std::move(conditions), std::move(rules), end);
  list->literals_pass = conf.literals_pass;
  return std::shared_ptr<const acl::AccessList>{std::move(list)};
}

config::Settings make_settings(const Conf& conf) {
  config::Settings settings;
  settings.file = conf.file;
  settings.server.listen = conf.listen;
  settings.server.metrics = conf.metrics;
  settings.server.control.clear();
  settings.server.control_group.clear();
  settings.server.state_dir.clear();
  settings.server.user = conf.user;
  settings.dns.servers = conf.dns_servers;
  settings.dns.hosts_file = conf.hosts_file;
  settings.limits.connect_timeout = conf.connect_timeout;
  settings.limits.drain_timeout = conf.shutdown_lifetime;
  settings.audit.format = config::AuditFormat::squid;
  settings.audit.path = conf.log_style == LogStyle::none ? "/dev/null"
                        : conf.log_path == "/dev/stdout" ? "-"
                                                         : conf.log_path;
  if (conf.log_style == LogStyle::common) settings.audit.lines = audit::LogFormat::common;
  if (conf.log_style == LogStyle::combined) settings.audit.lines = audit::LogFormat::combined;
  if (conf.log_style == LogStyle::custom) settings.audit.lines = conf.log_format;
  settings.agents.directories.clear();
  settings.foreign_names = {{"server.listen", "http_port"},
                            {"server.metrics", "# stile: metrics"},
                            {"server.user", "cache_effective_user"},
                            {"audit.path", "access_log"},
                            {"audit.format", "access_log"}};
  return settings;
}

}  // namespace

std::string agent_name(std::string_view acl) {
  std::string name = lower_case(acl);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::vector<std::string> additions(const Conf& conf) {
  std::vector<std::string> list;
  if (conf.checks_sni) {
    list.emplace_back(
        "a tunnel must open with TLS for the name it was asked for (# stile: sni = off)");
  }
  if (!conf.literals_pass) {
    list.emplace_back("addresses as destination are refused (# stile: ip_literals = allow)");
  }
  list.emplace_back(
      "names that resolve to private addresses are refused (# stile: private_exceptions = PREFIX)");
  list.emplace_back("dstdomain and dstdom_regex never look up the name of an address");
  list.emplace_back("names with an underscore need a dstdomain that has one");
  if (!conf.passes_forwarded_for) list.emplace_back("X-Forwarded-For is never sent");
  return list;
}

config::Checked<Compiled> compile(Conf conf, std::string digest) {
  auto settings = make_settings(conf);
  auto policy = std::make_shared<acl::AgentPolicy>();
  policy->id = "all";
  policy->sources = {acl::Prefix{acl::Address::v4(0), 0}, acl::Prefix{acl::Address::v6({}), 0}};
  policy->check_sni = conf.checks_sni;
  for (const auto& [prefix, hosts] : conf.private_exceptions) {
    policy->private_exceptions.push_back({prefix, nullptr});
  }
  policy->strip_request_headers = conf.denied_headers;
  if (!conf.adds_via) policy->strip_request_headers.emplace_back("via");
  if (!conf.passes_forwarded_for) policy->strip_request_headers.emplace_back("x-forwarded-for");
  // One policy for all sources: squid has no limit per client either.
  policy->max_connections = settings.limits.connections;
  policy->requests_per_second = 0;
  auto list = make_list(conf);
  if (!list) return list.error();
  policy->access = std::move(*list);
  config::Loaded loaded{std::move(settings), {}, config::ListFileCache{0}, {}, 0,
                        std::move(digest)};
  return Compiled{std::move(loaded), std::move(policy)};
}

}  // namespace stile::squid
