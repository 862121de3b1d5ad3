// explain: how a request would be decided, step by step, without making it.
#include "proxy/commands/explain.h"

#include <algorithm>

#include "acl/admit.h"
#include "acl/hello.h"
#include "acl/overrides.h"
#include "base/ascii.h"
#include "base/quoted.h"
#include "proxy/http/fields.h"
#include "proxy/http/head.h"
#include "scan/search.h"

namespace stile::commands {
namespace {

// A request as the proxy would have read it.
struct Asked {
  acl::Scheme scheme = acl::Scheme::tunnel;
  std::string authority;
  bool is_malformed = false;  // refused before anything is decided
  std::string target;         // of the request itself: path and query
};

control::Failure bad(std::string message) {
  return {control::ErrorCode::bad_request, std::move(message)};
}

// For https: a client sends a CONNECT. http: goes to the proxy unchanged, so the proxy's own parser
// reads it.
control::Outcome<Asked> read_url(const control::ControlRequest& request) {
  const std::string_view url = request.url;
  const auto is = [&](std::string_view scheme) {
    return equal_ignoring_case(url.substr(0, scheme.size()), scheme);
  };
  const bool wants_tunnel = equal_ignoring_case(request.method, "CONNECT");
  if (is("http://") && !wants_tunnel) {
    const auto target = http::parse_absolute_target(url);
    if (!target) return Asked{acl::Scheme::http, {}, true, {}};
    Asked asked{acl::Scheme::http, std::string{target->authority}, false, {}};
    if (!acl::split_authority(asked.authority).has_port) asked.authority += ":80";
    asked.target = std::string{target->path_and_query};
    return asked;
  }
  std::string_view rest = url;
  std::string_view default_port = "443";
  if (is("https://")) rest.remove_prefix(8);
  if (is("wss://")) rest.remove_prefix(6);
  if (is("http://")) {
    rest.remove_prefix(7);
    default_port = "80";
  }
  if (rest.find("://") != std::string_view::npos) {
    return bad(in_quotes(url) + ": only http:// and https:// go through a proxy");
  }
  const std::size_t asked_end = std::min(rest.find_first_of("/?#"), rest.size());
  Asked asked{acl::Scheme::tunnel, std::string{rest.substr(0, asked_end)}, false, {}};
  if (!acl::split_authority(asked.authority).has_port) {
    asked.authority.append(":").append(default_port);
  }
  if (!wants_tunnel && is("https://")) {
    asked.target = std::string{rest.substr(asked_end, rest.find('#') - asked_end)};
    if (!asked.target.starts_with('/')) asked.target.insert(0, "/");
  }
  return asked;
}

control::Outcome<Asked> read_asked(const control::ControlRequest& request) {
  if (!request.url.empty()) return read_url(request);
  const bool is_tunnel = request.method.empty() || equal_ignoring_case(request.method, "CONNECT");
  std::string host = request.host;
  // An IPv6 address without brackets is accepted.
  if (host.find(':') != std::string::npos && !host.starts_with('[')) host = '[' + host + ']';
  return Asked{
      is_tunnel ? acl::Scheme::tunnel : acl::Scheme::http, host + ':' + request.port, false, {}};
}

void note(Explanation& explanation, int number, std::string_view step, std::string result,
          std::string detail) {
  explanation.steps.push_back({number, step, std::move(result), std::move(detail)});
}

void refuse(Explanation& explanation, acl::Reason reason) {
  explanation.decision.verdict = acl::Verdict::deny;
  explanation.decision.reason = reason;
}

// A live request is past this step: its connection was admitted before its head was read.
void explain_connections(Explanation& explanation) {
  const acl::AgentPolicy& agent = *explanation.agent;
  const std::uint32_t open = agent.account->connections.load(std::memory_order_relaxed);
  const acl::Reason reason = acl::admit({}, {open, agent.max_connections});
  if (reason == acl::Reason::none) return;
  note(explanation, 7, "connections", std::string{acl::text(reason)},
       std::to_string(open) + " of " + std::to_string(agent.max_connections) + " are open");
  refuse(explanation, reason);
}

// Of a request only its first line is known here.
void explain_scans(Explanation& explanation, const std::string& line) {
  const auto& watch = explanation.agent->watch;
  if (!watch) return;
  const auto& rules = watch->rules();
  const scan::Found found = scan::find_in(watch->texts(), line).found;
  const scan::Found refusing = rules.refusing(found, explanation.agent->mode == acl::Mode::observe);
  std::string names = "secrets";
  for (const auto& scan : rules.scans()) {
    names.append(", ").append(scan.name);
    if (scan.action == scan::ScanAction::log) names += " (only logged)";
  }
  if (refusing == 0) {
    const std::string detail =
        found == 0 ? "nothing found in the URL" : rules.names(found) + " found";
    return note(explanation, 13, "scan", "pass",
                detail + "; headers and body are searched, too, for " + names);
  }
  const auto reason = refusing == scan::bit_of(scan::placeholders_number)
                          ? acl::Reason::placeholder_misplaced
                          : acl::Reason::secret_found;
  note(explanation, 13, "scan", std::string{acl::text(reason)},
       "the URL contains what is found by: " + rules.names(refusing));
  refuse(explanation, reason);
}

}  // namespace

control::Outcome<Explanation> explain(const acl::Snapshot& snapshot,
                                      const control::ControlRequest& request, UnixMicros now) {
  const auto asked = read_asked(request);
  if (!asked) return asked.error();
  const auto* agent =
      request.source ? snapshot.by_source(*request.source) : snapshot.by_id(request.agent);
  if (agent == nullptr && !request.source) {
    return control::Failure{control::ErrorCode::unknown_agent,
                            "there is no agent " + in_quotes(request.agent)};
  }
  Explanation explanation;
  if (agent != nullptr) explanation.agent = *agent;
  if (asked->is_malformed) {
    note(explanation, 4, "host-syntax", "bad-request",
         "user info, a fragment, a backslash or a control byte: " + in_quotes(request.url));
    refuse(explanation, acl::Reason::bad_request);
    return explanation;
  }
  acl::Query query;
  if (agent != nullptr) {
    const acl::Account& account = *(*agent)->account;
    query.budget_spent = account.bytes_up.is_spent() || account.bytes_down.is_spent();
  }
  query.agent = explanation.agent.get();
  query.scheme = asked->scheme;
  query.authority = acl::split_authority(asked->authority);
  query.now = now;
  if (request.source) query.source = *request.source;
  const std::string_view method = request.method.empty() ? "GET" : std::string_view{request.method};
  query.method = asked->scheme == acl::Scheme::tunnel ? "CONNECT" : method;
  explanation.decision = acl::decide(query, &explanation.steps);
  const bool is_inside = explanation.decision.is_opened || query.scheme == acl::Scheme::http;
  if (explanation.decision.passes() && is_inside && !asked->target.empty()) {
    // The request itself, without fields: those that a client would send are not known.
    const std::vector<acl::RequestField> no_fields;
    acl::RequestFacts facts;
    facts.names_tunnel = true;
    facts.method = method;
    facts.target = asked->target;
    const std::size_t mark = facts.target.find('?');
    facts.path = facts.target.substr(0, mark);
    if (mark != std::string_view::npos) facts.query = facts.target.substr(mark + 1);
    const acl::Overrides overrides = acl::overrides_in(no_fields, facts.query);
    facts.other_method = overrides.method;
    facts.fields = &no_fields;
    query.inside = &facts;
    explanation.steps.clear();
    explanation.decision = acl::decide(query, &explanation.steps);
    explanation.decision.terms = {};  // they may point into what ends here
  }
  explanation.steps.pop_back();  // the verdict has its own place in the answer
  const acl::Decision& decision = explanation.decision;
  if (decision.passes() && is_inside && !asked->target.empty()) {
    explain_scans(explanation, std::string{method} + ' ' + asked->target);
  }
  if (decision.passes()) explain_connections(explanation);
  if (decision.passes() && !decision.literal) explanation.name = decision.host.text();
  return explanation;
}

void explain_addresses(Explanation& explanation, const std::vector<acl::Address>& addresses,
                       const acl::PrefixMap& own) {
  const acl::Decision& decision = explanation.decision;
  if (addresses.empty()) {
    note(explanation, 8, "address", "dns-failure", explanation.name + " does not resolve");
    return refuse(explanation, acl::Reason::dns_failure);
  }
  std::string detail;
  bool may_any = false;
  for (const auto& address : addresses) {
    const bool may = acl::may_dial(*explanation.agent, decision, address, own);
    may_any = may_any || may;
    detail.append(detail.empty() ? "" : ", ").append(address.text());
    if (may) continue;
    const auto range = acl::special_range_name(address);
    detail.append(" forbidden").append(range.empty() ? "" : " (" + std::string{range} + ")");
  }
  note(explanation, 8, "address", may_any ? "pass" : "address-forbidden", std::move(detail));
  if (!may_any) refuse(explanation, acl::Reason::address_forbidden);
}

void explain_failing_log(Explanation& explanation, std::string problem) {
  if (!explanation.decision.passes()) return;
  note(explanation, 7, "audit", "audit-unavailable", std::move(problem));
  refuse(explanation, acl::Reason::audit_unavailable);
  explanation.name.clear();
}

std::string hello_detail(const Explanation& explanation) {
  const acl::Decision& decision = explanation.decision;
  if (!decision.passes()) return "";
  if (!decision.check_hello) return "no TLS ClientHello is needed";
  if (decision.is_opened) {
    return "the tunnel must open with a TLS ClientHello for this name; Stile opens it";
  }
  return std::string{"the tunnel must open with a TLS ClientHello "} +
         (decision.literal ? "without a server name" : "for this name") +
         (acl::allows_ech(*explanation.agent, decision) ? "; ECH is allowed" : ", without ECH");
}

}  // namespace stile::commands
