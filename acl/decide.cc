// The steps of a decision in order, one function each.
#include "acl/decide.h"

#include <algorithm>
#include <optional>
#include <string>

#include "acl/localhost.h"
#include "acl/nearest_name.h"
#include "acl/rule_search.h"
#include "acl/token_request.h"
#include "base/contains.h"
#include "base/quoted.h"

namespace stile::acl {
namespace {

// In observe mode, refusals by the policy are only recorded; all others hold in every mode.
enum class Holds : std::uint8_t { always, unless_observing };

class Decider {
 public:
  // Fills a new decision in place: it is too large to copy.
  Decider(const Query& query, Trace* trace, Decision& decision)
      : query_{query}, trace_{trace}, decision_{decision} {}

  void run() {
    // For the log, even if a step refuses before it judges the port.
    if (const auto port = parse_port(query_.authority.port)) decision_.port = *port;
    const bool passed = check_agent() && check_mode() && check_literal() && check_syntax() &&
                        check_port() && check_host() && check_usage() && check_request();
    if (passed && decision_.verdict == Verdict::deny) {
      decision_.verdict = Verdict::allow;
      decision_.reason = Reason::none;
    }
    decision_.may_ask = decision_.verdict == Verdict::deny && is_for_a_person();
    if (trace_ != nullptr) state_verdict();
  }

 private:
  // Each step returns whether to go on with the next one.
  bool check_agent();
  bool check_mode();
  bool check_literal();
  bool check_syntax();
  bool check_port();
  bool check_host();
  bool check_usage();
  bool check_host_budget();
  bool check_batch(const RequestFacts& facts);
  bool check_request();
  bool ask_access_list();
  [[nodiscard]] bool is_for_a_person() const;

  // `detail` is called only for an explanation: a decision itself builds no strings.
  template <class Detail>
  bool pass(int number, std::string_view step, Detail&& detail) {
    note(number, step, "pass", detail);
    return true;
  }
  template <class Detail>
  bool refuse(int number, std::string_view step, Reason reason, Holds holds, Detail&& detail);
  template <class Detail>
  void note(int number, std::string_view step, std::string_view result, Detail&& detail) {
    if (trace_ != nullptr) trace_->push_back({number, step, std::string{result}, detail()});
  }
  void state_verdict();

  [[nodiscard]] const AgentPolicy& agent() const noexcept { return *query_.agent; }
  [[nodiscard]] Destination destination() const noexcept {
    return {*key_, query_.scheme, decision_.port, port_is_listed_};
  }
  [[nodiscard]] Moment moment() const noexcept { return {query_.now, query_.charged}; }
  [[nodiscard]] bool is_observed() const noexcept {
    return decision_.verdict == Verdict::would_deny;
  }

  [[nodiscard]] bool rules_name_underscore() const;

  const Query& query_;
  Trace* trace_;
  Decision& decision_;
  HostParse::Kind kind_ = HostParse::Kind::malformed;
  std::optional<HostKey> key_;
  bool port_is_listed_ = false;
  AllowMatch found_;
};

template <class Detail>
bool Decider::refuse(int number, std::string_view step, Reason reason, Holds holds,
                     Detail&& detail) {
  const bool goes_on = holds == Holds::unless_observing && agent().mode == Mode::observe;
  decision_.verdict = goes_on ? Verdict::would_deny : Verdict::deny;
  decision_.reason = reason;
  decision_.rule = {};  // do not name or charge what an earlier step found
  decision_.grant = nullptr;
  note(number, step, text(reason), detail);
  return goes_on;
}

bool Decider::check_agent() {
  constexpr std::string_view step = "agent";
  if (query_.agent == nullptr) {
    return refuse(1, step, Reason::unknown_agent, Holds::always,
                  [] { return std::string{"the source belongs to no agent"}; });
  }
  const AgentPolicy& policy = agent();
  if (policy.expires && query_.now >= *policy.expires) {
    return refuse(1, step, Reason::agent_expired, Holds::always, [&] {
      return policy.id + " expired " + std::to_string((query_.now - *policy.expires) / 1000000) +
             " s ago";
    });
  }
  return pass(1, step, [&] { return policy.id; });
}

bool Decider::check_mode() {
  constexpr std::string_view step = "mode";
  const auto mode = [&] { return std::string{text(agent().mode)}; };
  if (agent().mode == Mode::offline) return refuse(2, step, Reason::offline, Holds::always, mode);
  return pass(2, step, mode);
}

bool Decider::check_literal() {
  constexpr std::string_view step = "ip-literal";
  HostParse parse = parse_host(query_.authority.host);
  kind_ = parse.kind;
  decision_.host = parse.host;
  const auto raw = [&] { return in_quotes(query_.authority.host); };
  if (kind_ != HostParse::Kind::ip_literal) {
    return pass(3, step, [&] { return raw() + " is not an address"; });
  }
  decision_.literal = parse.address;
  const auto& allowed = agent().allow_ip;
  if (parse.address && contains(allowed, *parse.address)) {
    decision_.literal_allowed = true;
    return pass(3, step, [&] { return parse.address->text() + " is in allow_ip"; });
  }
  if (parse.address && agent().access && agent().access->literals_pass) {
    return pass(3, step, [&] { return raw() + " is an address, and the rules decide about it"; });
  }
  // An address without a strict spelling cannot be dialled, so observe mode refuses it too.
  return refuse(3, step, Reason::ip_literal,
                parse.address ? Holds::unless_observing : Holds::always,
                [&] { return raw() + " is an address, and allow_ip does not have it"; });
}

std::string_view host_fault(std::string_view host) {
  if (host.empty()) return "the request has no host";
  if (std::any_of(host.begin(), host.end(), [](char c) { return (c & '\x80') != 0; })) {
    return "the host has characters outside ASCII; such a name is written with xn--";
  }
  return "the host is not a name of letters, digits and hyphens, with labels of at most 63 bytes";
}

bool Decider::check_syntax() {
  constexpr std::string_view step = "host-syntax";
  const auto bad = [&](std::string_view why) {
    decision_.fault = why;
    return refuse(4, step, Reason::bad_request, Holds::always, [&] { return std::string{why}; });
  };
  if (kind_ == HostParse::Kind::malformed) return bad(host_fault(query_.authority.host));
  if (!query_.authority.has_port) return bad("the request has no port");
  if (decision_.port == 0) return bad("the port is not a number from 1 to 65535");
  if (kind_ == HostParse::Kind::name) {
    key_.emplace(decision_.host);
    if (decision_.host.has_underscore() && !rules_name_underscore()) {
      return bad("the host has an underscore, and no rule names one for it");
    }
  }
  return pass(4, step, [&] {
    const std::string host =
        decision_.literal ? decision_.literal->text() : std::string{decision_.host.text()};
    return host + " port " + std::to_string(decision_.port);
  });
}

bool Decider::rules_name_underscore() const {
  return agent().access ? agent().access->names_underscore(*key_)
                        : rule_names_underscore(agent(), destination(), moment());
}

bool Decider::check_port() {
  constexpr std::string_view step = "port";
  if (is_observed()) return true;
  if (agent().access) return ask_access_list();
  const bool is_tunnel = query_.scheme == Scheme::tunnel;
  const auto& ports = is_tunnel ? agent().ports : agent().http_ports;
  port_is_listed_ = contains(ports, decision_.port);
  if (key_) found_ = find_allow(agent(), destination(), moment());

  const auto list = [&] { return std::string{is_tunnel ? "ports" : "http_ports"}; };
  if (!port_is_listed_ && !found_) {
    return refuse(5, step, Reason::port_not_allowed, Holds::unless_observing, [&] {
      return std::to_string(decision_.port) + " is not in " + list() +
             ", and no pattern for this name carries it";
    });
  }
  return pass(5, step, [&] {
    if (port_is_listed_) return std::to_string(decision_.port) + " is in " + list();
    return std::to_string(decision_.port) + " is carried by " + found_.rule.describe();
  });
}

// An ordered list decides about port and host together. The rule says which of the two steps a
// refusal belongs to.
bool Decider::ask_access_list() {
  const std::vector<Address> literal(decision_.literal ? 1 : 0,
                                     decision_.literal.value_or(Address{}));
  AccessQuery asked;
  asked.source = query_.source;
  asked.method = query_.method;
  asked.path = query_.path;
  asked.key = key_ ? &*key_ : nullptr;
  asked.port = decision_.port;
  asked.addresses = decision_.literal ? &literal : query_.addresses;
  const AccessList::Outcome outcome = agent().access->ask(asked);
  const AccessRule* rule = outcome.rule;
  const auto detail = [&] {
    if (rule != nullptr) return rule->text;
    return std::string{outcome.kind == AccessList::Outcome::Kind::unresolved
                           ? "decided once the host's addresses are known"
                           : "an expression could not run; that denies"};
  };
  if (outcome.kind == AccessList::Outcome::Kind::deny) {
    const Reason reason = rule != nullptr ? rule->refusal : Reason::host_not_allowed;
    const bool is_port = reason == Reason::port_not_allowed;
    const bool goes_on =
        refuse(is_port ? 5 : 6, is_port ? "port" : "host", reason, Holds::unless_observing, detail);
    decision_.access_rule = rule;
    return goes_on;
  }
  decision_.access_rule = rule;
  decision_.awaits_addresses = outcome.kind == AccessList::Outcome::Kind::unresolved;
  return pass(5, "port", detail);
}

bool Decider::check_host() {
  constexpr std::string_view step = "host";
  if (is_observed()) return true;
  if (agent().access) {
    return pass(6, step, [] { return std::string{"decided together with the port"}; });
  }
  if (decision_.literal_allowed) {
    return pass(6, step, [] { return std::string{"an address of allow_ip needs no rule"}; });
  }
  const DenyMatch denied = find_deny(agent(), destination());
  if (denied.is_denied) {
    const bool goes_on = refuse(6, step, Reason::host_denied, Holds::unless_observing, [&] {
      return denied.rule ? "denied by " + denied.rule.describe()
                         : std::string{"the deny regexes could not run; that denies"};
    });
    decision_.rule = denied.rule;
    return goes_on;
  }
  if (!found_) {
    return refuse(6, step, Reason::host_not_allowed, Holds::unless_observing, [&] {
      std::string detail = "no allow rule covers it";
      const RuleRef near = nearest_name(agent(), decision_.host.text());
      return near ? detail + "; the nearest is " + near.describe() : detail;
    });
  }
  decision_.rule = found_.rule;
  decision_.grant = found_.grant;
  return pass(6, step, [&] { return "allowed by " + found_.rule.describe(); });
}

bool Decider::check_usage() {
  constexpr std::string_view step = "usage";
  if (query_.budget_spent) {
    return refuse(7, step, Reason::budget_exhausted, Holds::always,
                  [] { return std::string{sentence(Reason::budget_exhausted)}; });
  }
  if (key_) decision_.budget = agent().budget_for(decision_.host.text());
  if (!check_host_budget()) return false;
  decision_.check_hello = query_.scheme == Scheme::tunnel && agent().check_sni &&
                          found_.rule.reach != Pattern::Reach::tcp;
  decision_.is_opened = query_.scheme == Scheme::tunnel && key_ && agent().inside &&
                        found_.rule.reach != Pattern::Reach::tcp &&
                        (decision_.budget != nullptr ||  // sealed, it could not be counted
                         agent().inside->opens(*key_, decision_.port));
  if (decision_.is_opened) decision_.check_hello = true;
  return pass(7, step, [&] {
    const bool has_host = query_.inside != nullptr && decision_.budget != nullptr;
    return std::string{has_host ? "within its budgets of bytes and of this host"
                                : "within its budgets of bytes"};
  });
}

// Requests to a host, not the tunnel that they are in.
bool Decider::check_host_budget() {
  const HostBudget* budget = decision_.budget;
  if (budget == nullptr || query_.inside == nullptr) return true;
  if (query_.counted != nullptr && query_.counted == budget->usage.get()) return true;
  const std::string_view fault = fault_of(*budget, query_.now);
  if (fault.empty()) return true;
  decision_.fault = fault;
  if (budget->usage != nullptr && fault == minute_fault) {
    decision_.retry_after_seconds = budget->usage->minute.seconds_left(query_.now);
  }
  return refuse(7, "usage", Reason::budget_exhausted, Holds::always,
                [&] { return std::string{fault}; });
}

// A batch is worked through after its answer, which says nothing of its tokens.
bool Decider::check_batch(const RequestFacts& facts) {
  if (decision_.budget == nullptr || !decision_.budget->tokens) return true;
  if (!can_spend_tokens(facts.method, facts.other_method)) return true;
  const bool is_plain = is_plain_path(facts.path);
  if (is_plain && !begins_batch(facts.path)) return true;
  decision_.fault =
      is_plain ? batch_fault : "the path can be read in several ways; send it normalised";
  return refuse(11, "request", is_plain ? Reason::path_not_allowed : Reason::bad_request,
                Holds::always, [&] { return std::string{decision_.fault}; });
}

// Steps 11 and 12. In observe mode a rule about methods and paths only records.
bool Decider::check_request() {
  constexpr std::string_view step = "request";
  if (query_.inside == nullptr) return true;
  const bool is_plain = query_.scheme == Scheme::http;
  if (is_plain && (!agent().inside || !key_)) return true;
  if (!is_plain && !decision_.is_opened) {
    return refuse(11, step, Reason::revoked, Holds::always,
                  [] { return std::string{"the policy no longer opens this host"}; });
  }
  const Inside& inside = *agent().inside;
  const RequestFacts& facts = *query_.inside;
  if (facts.wants_websocket && decision_.budget != nullptr && decision_.budget->tokens) {
    decision_.fault = websocket_fault;
    return refuse(11, step, Reason::upgrade_not_allowed, Holds::always,
                  [] { return std::string{websocket_fault}; });
  }
  if (!check_batch(facts)) return false;
  const AllowMatch granted =
      facts.other_method.empty()
          ? find_granted_request(agent(), destination(), facts.method, facts.path, moment())
          : AllowMatch{};  // no grant is for two methods
  RequestFault fault = judge_request(inside, *key_, decision_.port, facts, decision_.terms,
                                     static_cast<bool>(granted));
  if (decision_.terms.by_grant && !is_observed()) {
    fault.rule = granted.rule;
    decision_.grant = granted.grant;
  }
  if (fault.reason != Reason::none) {
    const bool is_rule =
        fault.reason == Reason::method_not_allowed || fault.reason == Reason::path_not_allowed;
    if (fault.reason == Reason::bad_request) {
      decision_.fault = is_plain_path(facts.path)
                            ? other_path_fault
                            : "the path can be read in several ways; send it normalised";
    }
    const bool was_observed = is_observed();
    const Reason first = decision_.reason;
    const bool goes_on =
        refuse(11, step, fault.reason, is_rule ? Holds::unless_observing : Holds::always,
               [&] { return fault.detail; });
    if (!goes_on) return false;
    if (was_observed) decision_.reason = first;
  } else {
    if (fault.rule && !is_observed()) decision_.rule = fault.rule;
    note(11, step, "pass", [&] {
      if (decision_.terms.by_grant) return "allowed by grant " + granted.grant->id;
      if (!fault.rule) return std::string{"no request entry covers this host"};
      std::string detail = "allowed by the request entry " + fault.rule.describe();
      if (!decision_.terms.push_rules.empty()) detail += ", if the refs of the push are";
      if (decision_.terms.needs_query) detail += ", if its body is one GraphQL query";
      return detail;
    });
  }
  // No secret goes out without TLS.
  if (is_plain) {
    decision_.terms.secrets.clear();
    decision_.terms.of_host.clear();
    return true;
  }
  fault = judge_credentials(inside, *query_.inside, agent().strip_request_headers, decision_.terms);
  if (fault.reason != Reason::none) {
    return refuse(12, "credentials", fault.reason, Holds::always, [&] { return fault.detail; });
  }
  // A secret goes out only with a request that was allowed.
  if (is_observed()) decision_.terms.secrets.clear();
  return pass(12, "credentials", [&] {
    std::string names;
    for (const AgentSecret* secret : decision_.terms.secrets) {
      names += (names.empty() ? "sets the secret " : ", ") + secret->secret->name;
    }
    return names.empty() ? std::string{"no secret is set"} : names;
  });
}

// Whether nothing but a missing rule refuses it. Deny rules, addresses and malformed names are
// never put to a person, nor is a request that step 7 or 12 would refuse all the same.
bool Decider::is_for_a_person() const {
  if (query_.agent == nullptr || !agent().asks || !agent().takes_grants() || !key_) return false;
  if (decision_.host.text() == own_name || query_.budget_spent) return false;
  if (is_localhost(decision_.host.text()) && !reaches_loopback(agent())) return false;
  switch (decision_.reason) {
    case Reason::host_not_allowed:
    case Reason::port_not_allowed:
      break;
    case Reason::method_not_allowed:
    case Reason::path_not_allowed:
      if (query_.inside->wants_websocket || !decision_.fault.empty()) return false;
      if (query_.scheme == Scheme::tunnel &&
          judge_credentials(*agent().inside, *query_.inside, agent().strip_request_headers,
                            decision_.terms)
                  .reason != Reason::none) {
        return false;
      }
      break;
    default:
      return false;
  }
  return !find_deny(agent(), destination()).is_denied;
}

void Decider::state_verdict() {
  std::string result{text(decision_.verdict)};
  if (decision_.reason != Reason::none) result.append(" ").append(text(decision_.reason));
  note(trace_->back().number, "verdict", result, [&] {
    std::string detail{sentence(decision_.reason)};
    if (decision_.may_ask) detail += " A person is asked about it first.";
    return detail;
  });
}

}  // namespace

std::string rule_text(const RuleRef& rule, const AccessRule* access_rule) {
  if (rule) return rule.describe();
  return access_rule != nullptr ? access_rule->text : std::string{};
}

Decision decide(const Query& query, Trace* trace) {
  Decision decision;
  Decider{query, trace, decision}.run();
  return decision;
}

}  // namespace stile::acl
