// Inside: steps 11 and 12, for each request in a tunnel that is opened.
#include "acl/inside.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/contains.h"
#include "base/quoted.h"

namespace stile::acl {
namespace {

bool covers_port(const CoveringRule& rule, std::uint16_t port) noexcept {
  return rule.reach == Pattern::Reach::bare || rule.port == port;
}

bool is_covered(const RuleSet* hosts, const HostKey& key, std::uint16_t port) {
  return hosts != nullptr &&
         hosts->visit(key, [port](const CoveringRule& rule) { return covers_port(rule, port); });
}

struct Covering {
  std::uint32_t owner = 0;  // the entry or secret
  RuleRef rule;
};

// In the order of the config, whichever pattern is closest; each once.
std::vector<Covering> covering(const RuleSet* hosts, const Inside::Owners& owners,
                               const HostKey& key, std::uint16_t port) {
  std::vector<Covering> found;
  if (hosts == nullptr) return found;
  hosts->visit(key, [&](const CoveringRule& rule) {
    if (!covers_port(rule, port)) return false;
    for (const std::uint32_t owner : owners[rule.index]) found.push_back({owner, rule});
    return false;
  });
  std::sort(found.begin(), found.end(),
            [](const Covering& a, const Covering& b) { return a.owner < b.owner; });
  found.erase(std::unique(found.begin(), found.end(),
                          [](const Covering& a, const Covering& b) { return a.owner == b.owner; }),
              found.end());
  return found;
}

bool matches_any(const std::vector<PathPattern>& paths, std::string_view path) {
  return paths.empty() || std::any_of(paths.begin(), paths.end(),
                                      [path](const PathPattern& one) { return one.matches(path); });
}

bool allows_method(const RequestRule& rule, std::string_view method) {
  return rule.methods.empty() || contains(rule.methods, method);
}

bool allows_query(const RequestRule& rule, std::string_view query) {
  return rule.queries.empty() || contains(rule.queries, query);
}

// The steps within one entry, in the order of the reasons: a later one came nearer.
Reason fault_in(const RequestRule& rule, const RequestFacts& facts) {
  if (!allows_method(rule, facts.method)) return Reason::method_not_allowed;
  // Some servers would carry out the method of the field.
  if (!facts.other_method.empty() && !allows_method(rule, facts.other_method)) {
    return Reason::method_not_allowed;
  }
  if (!matches_any(rule.paths, facts.path) || !allows_query(rule, facts.query)) {
    return Reason::path_not_allowed;
  }
  if (facts.wants_websocket && !rule.websocket) return Reason::upgrade_not_allowed;
  if (rule.max_body && facts.body_bytes && *facts.body_bytes > *rule.max_body) {
    return Reason::body_too_large;
  }
  return Reason::none;
}

std::string detail_of(Reason reason, const RequestFacts& facts) {
  switch (reason) {
    case Reason::method_not_allowed:
      if (!facts.other_method.empty()) {
        return in_quotes(facts.method) + ", with a field or parameter that names " +
               in_quotes(facts.other_method) + ", is not allowed by any entry for this host";
      }
      return in_quotes(facts.method) + " is not among the methods of any entry for this host";
    case Reason::path_not_allowed:
      return in_quotes(facts.path) +
             " with its query is not among the paths of an entry with this method";
    case Reason::upgrade_not_allowed:
      return "no entry for this request has websocket = true";
    case Reason::body_too_large:
      return "its body is larger than max_body of every entry that allows it";
    default:
      return {};
  }
}

bool lacks_an_entry(Reason reason) noexcept {
  return reason == Reason::method_not_allowed || reason == Reason::path_not_allowed;
}

bool has_text(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The placeholder may appear in the secret's own header on its own hosts, and nowhere else.
bool is_misplaced(const AgentSecret& secret, const RequestFacts& facts, const RequestTerms& terms) {
  if (has_text(facts.target, secret.placeholder)) return true;
  const bool is_at_home = contains(terms.of_host, &secret);
  return std::any_of(facts.fields->begin(), facts.fields->end(), [&](const RequestField& field) {
    return has_text(field.value, secret.placeholder) &&
           !(is_at_home && equal_ignoring_case(field.name, secret.secret->header));
  });
}

// The agent sent the placeholder in the place of the secret, in one of the forms that clients use.
bool is_placeholder(const AgentSecret& secret, const RequestField& field) {
  return equal_ignoring_case(field.name, secret.secret->header) &&
         (field.value == secret.placeholder ||
          field.value == secret.secret->header_value(secret.placeholder));
}

}  // namespace

bool Inside::opens(const HostKey& key, std::uint16_t port) const {
  return is_covered(request_hosts.get(), key, port) || is_covered(secret_hosts.get(), key, port);
}

bool Inside::opens_some_port(const HostKey& key) const {
  const auto is_any = [](const CoveringRule&) { return true; };
  return (request_hosts != nullptr && request_hosts->visit(key, is_any)) ||
         (secret_hosts != nullptr && secret_hosts->visit(key, is_any));
}

RequestFault judge_request(const Inside& inside, const HostKey& key, std::uint16_t port,
                           const RequestFacts& facts, RequestTerms& terms, bool is_granted) {
  terms = {};
  if (!facts.names_tunnel) {
    return {Reason::host_mismatch, "the request names another host than the tunnel", {}};
  }
  const auto entries = covering(inside.request_hosts.get(), inside.requests_of_host, key, port);
  bool judges_paths = std::any_of(entries.begin(), entries.end(), [&](const Covering& entry) {
    return !inside.requests[entry.owner].paths.empty();
  });
  for (const Covering& found :
       covering(inside.secret_hosts.get(), inside.secrets_of_host, key, port)) {
    const AgentSecret& secret = inside.secrets[found.owner];
    judges_paths = judges_paths || !secret.secret->paths.empty();
    terms.of_host.push_back(&secret);
  }
  if (judges_paths && !is_plain_path(facts.path)) {
    return {Reason::bad_request,
            in_quotes(facts.path) + " can be read in several ways; send it normalised",
            {}};
  }
  if (judges_paths && facts.names_other_path) {
    return {Reason::bad_request, std::string{other_path_fault}, {}};
  }
  RequestFault nearest{entries.empty() ? Reason::none : Reason::method_not_allowed, {}, {}};
  for (const Covering& entry : entries) {
    const Reason fault = fault_in(inside.requests[entry.owner], facts);
    const RequestRule& rule = inside.requests[entry.owner];
    if (fault == Reason::none && rule.graphql_query) {
      if (terms.rule == nullptr) {  // another entry may allow any body
        terms.rule = &rule;
        terms.needs_query = true;
        nearest = {Reason::none, {}, entry.rule};
      }
      continue;
    }
    if (fault == Reason::none && rule.push_refs.empty()) {
      terms.push_rules.clear();
      terms.needs_query = false;
      terms.rule = &rule;
      nearest = {Reason::none, {}, entry.rule};
      break;
    }
    if (fault == Reason::none) {
      terms.push_rules.push_back(&rule);  // another entry may allow more refs, or all of them
      if (terms.rule == nullptr) {
        terms.rule = &rule;
        nearest = {Reason::none, {}, entry.rule};
      }
    }
    if (terms.rule == nullptr) nearest.reason = std::max(nearest.reason, fault);
  }
  if (entries.empty() && facts.wants_websocket) nearest.reason = Reason::upgrade_not_allowed;
  if (is_granted && lacks_an_entry(nearest.reason)) {
    // No grant is for a WebSocket, which could carry anything.
    nearest.reason = facts.wants_websocket ? Reason::upgrade_not_allowed : Reason::none;
    terms.by_grant = nearest.reason == Reason::none;
  }
  if (nearest.reason != Reason::none) {
    nearest.detail = detail_of(nearest.reason, facts);
    return nearest;
  }
  for (const AgentSecret* secret : terms.of_host) {
    const bool is_set =
        std::any_of(terms.secrets.begin(), terms.secrets.end(), [&](const AgentSecret* other) {
          return equal_ignoring_case(other->secret->header, secret->secret->header);
        });
    if (!is_set && matches_any(secret->secret->paths, facts.path)) terms.secrets.push_back(secret);
  }
  return nearest;
}

std::string judge_push(const RequestTerms& terms, std::span<const PushCommand> commands) {
  std::vector<RefPattern> allowed;
  for (const RequestRule* rule : terms.push_rules) {
    allowed.insert(allowed.end(), rule->push_refs.begin(), rule->push_refs.end());
  }
  return judge_push(allowed, commands);
}

RequestFault judge_credentials(const Inside& inside, const RequestFacts& facts,
                               std::span<const std::string> credentials,
                               const RequestTerms& terms) {
  if (facts.fields == nullptr) return {};
  for (const AgentSecret& secret : inside.secrets) {
    if (is_misplaced(secret, facts, terms)) {
      return {Reason::placeholder_misplaced,
              "the placeholder of " + secret.secret->name + " is not in its header alone",
              {}};
    }
  }
  for (const AgentSecret* secret : terms.of_host) {
    if (!secret->secret->refuses_own) continue;
    for (const RequestField& field : *facts.fields) {
      const bool is_credential =
          equal_ignoring_case(field.name, secret->secret->header) ||
          std::any_of(credentials.begin(), credentials.end(), [&](const std::string& name) {
            return equal_ignoring_case(name, field.name);
          });
      if (is_credential && !is_placeholder(*secret, field)) {
        return {Reason::credential_refused,
                secret->secret->name + " does not allow a credential of the agent's own",
                {}};
      }
    }
  }
  return {};
}

}  // namespace stile::acl
