// Secrets: [[secret]] entries checked, compiled, and their values read.
#include "config/secrets.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "base/contains.h"
#include "base/files.h"
#include "base/quoted.h"
#include "base/wipe.h"
#include "config/trust.h"

namespace stile::config {
namespace {

constexpr std::size_t max_value_file = 20'000;

// "": the value comes from elsewhere.
std::string file_of(const SecretSettings& secret) {
  if (secret.credential.empty()) return secret.file;
  const char* directory = std::getenv("CREDENTIALS_DIRECTORY");
  return std::string{directory == nullptr ? "/run/credentials" : directory} + '/' +
         secret.credential;
}

// Headers that say where a message goes or ends.
bool is_of_the_connection(std::string_view lower_case_name) {
  constexpr std::array<std::string_view, 10> names{
      "host", "content-length", "transfer-encoding", "connection", "upgrade",
      "te",   "trailer",        "keep-alive",        "expect",     "proxy-connection"};
  return contains(names, lower_case_name);
}

void check_secret(const SecretSettings& secret, Diagnostics& problems) {
  const auto error = [&](std::string problem, std::string hint = {}) {
    problems.error(secret.place, "secret", std::move(problem), std::move(hint));
  };
  if (secret.name.empty()) error("name is missing");
  const auto is_missing = [&](const char* key) {  // not: its value was invalid, as is known already
    return std::none_of(problems.items().begin(), problems.items().end(),
                        [&](const auto& item) { return item.key == std::string{"secret."} + key; });
  };
  if (secret.header.empty() && is_missing("header")) {
    error("header is missing", "like header = \"Authorization\"");
  }
  if (secret.hosts.empty() && is_missing("hosts")) {
    error("hosts is missing", "a secret goes only to the hosts it names");
  }
  if (int{!secret.file.empty()} + int{!secret.credential.empty()} + int{!secret.command.empty()} !=
      1) {
    error("needs exactly one of file, credential and command");
  }
  if (!secret.command.empty() && !secret.command[0].starts_with('/')) {
    error("command begins with the absolute path of a program");
  }
  if (secret.command.empty() && secret.refresh.count() != 0) {
    error("refresh_seconds belongs to command", "a changed file is noticed without it");
  }
  if (secret.credential.find('/') != std::string::npos) {
    error("credential is a name without /", "systemd's LoadCredential= gives it");
  }
  if (is_of_the_connection(lower_case(secret.header))) {
    error(in_quotes(secret.header) + " belongs to the connection, not to a credential");
  }
  if (secret.basic_user.find(':') != std::string::npos) error("basic_user contains a colon");
  if (!secret.basic_user.empty() && secret.format != "{}") {
    error("format and basic_user exclude each other");
  }
  if (!secret.agent_env.empty() && !is_variable_name(secret.agent_env)) {
    error(in_quotes(secret.agent_env) + " is not the name of a variable");
  }
  if (!secret.placeholder.empty()) {
    const auto value = acl::check_secret_value(secret.placeholder);
    if (!value) error("placeholder: " + value.error().message);
  }
}

// The caller wipes it.
Result<std::string> read_value(const SecretSettings& secret, const std::string& path, uid_t owner) {
  // systemd checks and owns its credentials.
  auto opened = secret.credential.empty() ? open_trusted(path, owner) : open_trusted(path, {});
  if (!opened) return opened.error();
  if ((opened->status.st_mode & 0007) != 0) {
    return Error{"all users of this host can read it; chmod o= it"};
  }
  auto text = read_all(opened->file.get(), max_value_file);
  if (!text) return text.error();
  std::string value = std::move(*text);
  if (value.ends_with('\n')) value.pop_back();
  if (value.ends_with('\r')) value.pop_back();
  const auto good = acl::check_secret_value(value);
  if (!good) {
    wipe(value);
    return good.error();
  }
  return Result<std::string>{boost::system::in_place_value, std::move(value)};
}

std::string taken_text(const std::string& own) {
  return "it has the value of this host's secret " + in_quotes(own) +
         " and would go to other hosts or paths";
}

acl::RequestRule request_rule(const RequestSettings& from) {
  acl::RequestRule rule;
  const bool is_any = contains(from.methods, "*");
  if (!is_any) rule.methods = from.methods;
  rule.paths = from.paths;
  rule.max_body = from.max_body;
  rule.websocket = from.websocket;
  rule.queries = from.queries;
  rule.push_refs = from.refs;
  rule.graphql_query = from.graphql_query;
  for (const auto& name : from.keep_headers) rule.keep_headers.push_back(lower_case(name));
  return rule;
}

bool covers(const acl::Pattern& wide, const acl::Pattern& narrow) {
  return acl::covers_names(wide.kind, wide.name, narrow.kind, narrow.name) &&
         (wide.reach == acl::Pattern::Reach::bare ||
          (wide.reach == narrow.reach && wide.port == narrow.port));
}

// Whether a secret goes nowhere that the other one does not go.
bool is_within(const SecretSettings& narrow, const SecretSettings& wide) {
  const auto is_covered = [&wide](const PlacedPattern& host) {
    return std::any_of(wide.hosts.begin(), wide.hosts.end(), [&host](const PlacedPattern& own) {
      return covers(own.pattern, host.pattern);
    });
  };
  return std::all_of(narrow.hosts.begin(), narrow.hosts.end(), is_covered) &&
         (wide.paths.empty() || wide.paths == narrow.paths);
}

// A list of hosts that has each pattern once, with all that it belongs to.
class HostList {
 public:
  explicit HostList(const std::string& source) : rules_{source} {}
  void add(const PlacedPattern& host, std::size_t owner) {
    const auto [place, is_new] = places_.emplace(host.pattern.text(), owners_.size());
    if (is_new) {
      rules_.add(host.pattern, host.line);
      owners_.emplace_back();
    }
    owners_[place->second].push_back(static_cast<std::uint32_t>(owner));
  }
  void build(std::shared_ptr<const acl::RuleSet>& rules, acl::Inside::Owners& owners) && {
    if (!owners_.empty()) rules = std::move(rules_).build();
    owners = std::move(owners_);
  }

 private:
  acl::RuleSet::Builder rules_;
  acl::Inside::Owners owners_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace

void check_secrets(const Settings& settings, Diagnostics& problems) {
  std::set<std::string> names;
  for (const auto& secret : settings.secret) {
    check_secret(secret, problems);
    if (!secret.name.empty() && !names.insert(secret.name).second) {
      problems.error(secret.place, "secret.name", in_quotes(secret.name) + " is taken");
    }
  }
}

Secrets::Secrets(const std::vector<SecretSettings>& settings) {
  for (const auto& from : settings) {
    auto secret = std::make_shared<acl::Secret>();
    secret->name = from.name;
    for (const auto& host : from.hosts) secret->hosts.push_back(host.pattern);
    secret->paths = from.paths;
    secret->header = from.header;
    secret->format = from.format;
    secret->basic_user = from.basic_user;
    secret->refuses_own = from.refuses_own;
    secret->agent_env = from.agent_env;
    secret->placeholder = from.placeholder;
    secret->value = std::make_shared<acl::SecretValue>();
    entries_[from.name] = {from, std::move(secret), file_of(from)};
  }
}

const Secrets::Entry* Secrets::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

void Secrets::set_value(const std::string& name, std::string_view value,
                        std::int64_t now_us) const {
  if (const auto* entry = find(name)) entry->secret->value->set(value, now_us);
}

void Secrets::read_values(uid_t owner, std::int64_t now_us, Diagnostics& problems) const {
  for (const auto& [name, entry] : entries_) {
    if (entry.file.empty()) continue;
    auto value = read_value(entry.settings, entry.file, owner);
    if (value) {
      entry.secret->value->set(*value, now_us);
      wipe(*value);
    } else {
      problems.error(entry.settings.place, "secret." + name,
                     about_file(entry.file, value.error().message));
    }
  }
  for (const auto& [name, entry] : entries_) {
    const auto value = entry.secret->value->get();
    const Entry* own = value ? taken_from(entry, value->view()) : nullptr;
    if (own == nullptr) continue;
    problems.error(entry.settings.place, "secret." + name, taken_text(own->settings.name));
  }
}

// By the value: one file has many names, and may be copied.
const Secrets::Entry* Secrets::taken_from(const Entry& of_fleet, std::string_view value) const {
  if (!of_fleet.settings.is_of_fleet) return nullptr;
  for (const auto& [name, entry] : entries_) {
    if (entry.settings.is_of_fleet || is_within(of_fleet.settings, entry.settings)) continue;
    const auto own = entry.secret->value->get();
    if (own && own->view() == value) return &entry;
  }
  return nullptr;
}

std::vector<std::string> Secrets::refresh(uid_t owner, std::int64_t now_us) const {
  std::vector<std::string> failures;
  for (const auto& [name, entry] : entries_) {
    if (entry.file.empty()) continue;
    auto value = read_value(entry.settings, entry.file, owner);
    if (!value) {
      failures.push_back("secret " + name + ": " + about_file(entry.file, value.error().message));
      continue;
    }
    if (const Entry* own = taken_from(entry, *value)) {
      failures.push_back("secret " + name + ": " + taken_text(own->settings.name));
      wipe(*value);
      continue;
    }
    const auto old = entry.secret->value->get();
    if (!old || old->view() != *value) entry.secret->value->set(*value, now_us);
    wipe(*value);
  }
  return failures;
}

std::shared_ptr<const acl::Inside> compile_inside(const AgentSettings& agent,
                                                  const Secrets& secrets,
                                                  CapabilityFiles& capabilities,
                                                  Diagnostics& problems) {
  if (agent.request.empty() && agent.can.empty() && agent.secrets.empty()) return nullptr;
  auto inside = std::make_shared<acl::Inside>();
  HostList request_hosts{agent.place.file}, secret_hosts{agent.place.file};
  for (const auto& request : all_requests(agent, capabilities, problems)) {
    request_hosts.add(request.host, inside->requests.size());
    if (request.plain_http) {
      const auto plain = acl::Pattern::parse("http://" + request.host.pattern.text());
      if (plain) request_hosts.add({*plain, request.host.line}, inside->requests.size());
    }
    inside->requests.push_back(request_rule(request));
  }
  for (const auto& name : agent.secrets) {
    const auto* entry = secrets.find(name);
    if (entry == nullptr) {
      problems.error(place_of(agent.place.file, agent.keys, "agent", "secrets"), "agent.secrets",
                     "there is no [[secret]] named " + in_quotes(name));
      continue;
    }
    for (const auto& host : entry->settings.hosts) secret_hosts.add(host, inside->secrets.size());
    inside->secrets.push_back({entry->secret, acl::placeholder_of(agent.id, *entry->secret)});
  }
  std::move(request_hosts).build(inside->request_hosts, inside->requests_of_host);
  std::move(secret_hosts).build(inside->secret_hosts, inside->secrets_of_host);
  return inside;
}

}  // namespace stile::config
