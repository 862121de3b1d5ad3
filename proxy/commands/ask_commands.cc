// Commands: `asks`, `ask` and `answer`.
#include <algorithm>
#include <utility>

#include "acl/allowing_pattern.h"
#include "base/ascii.h"
#include "base/json.h"
#include "base/quoted.h"
#include "base/random.h"
#include "control/grants.h"
#include "proxy/base/clock.h"
#include "proxy/commands/ask_text.h"
#include "proxy/commands/commands.h"
#include "proxy/commands/explain.h"

namespace stile::commands {
namespace {

using control::Ask, control::AskBook, control::ErrorCode, control::Failure, control::Outcome;

// What was asked, for people: "GET https://api.example.com:443/x" or "example.com:443".
std::string destination_of(const Ask& ask) {
  std::string text = ask.host + ':' + std::to_string(ask.port);
  if (ask.scheme == "http" || ask.is_for_one_request()) {
    text = (ask.scheme == "http" ? "http://" : "https://") + text;
  }
  return ask.is_for_one_request() ? ask.method + ' ' + text + ask.path : text;
}

// Exactly what was asked: one name, one port, one scheme.
Outcome<std::vector<acl::Pattern>> asked_pattern(const Ask& ask) {
  const auto scheme = ask.scheme == "http" ? acl::Scheme::http : acl::Scheme::tunnel;
  auto pattern = acl::Pattern::parse(
      acl::allowing_pattern(acl::Reason::port_not_allowed, scheme, ask.host, ask.port));
  if (!pattern) return Failure{ErrorCode::internal, "no pattern fits this ask"};
  return std::vector<acl::Pattern>{std::move(*pattern)};
}

// Whether what was asked passes with these changes.
Outcome<void> check_effect(const Ask& ask, const control::LivePolicy::Running& running,
                           const control::AgentOverlay& overlay, UnixMicros now) {
  auto policy = control::lay_over(*running.entry->policy, running.policy->mode,
                                  running.policy->mode, &overlay);
  if (!policy) return Failure{ErrorCode::bad_request, policy.error().message};
  acl::RequestFacts facts;
  const std::string port = std::to_string(ask.port);
  const acl::Decision decision = acl::decide(query_of(ask, **policy, port, facts, now));
  if (decision.reason == acl::Reason::host_denied) {
    return Failure{ErrorCode::denied_by_rule, destination_of(ask) + " is denied by " +
                                                  decision.rule_text() +
                                                  "; no answer beats a deny rule"};
  }
  if (decision.may_ask) {
    return Failure{ErrorCode::bad_request,
                   "these hosts do not cover what was asked: " + destination_of(ask)};
  }
  return boost::system::in_place_value;
}

// Of a URL with a scheme, without the query.
std::string path_of(std::string_view url) {
  url.remove_prefix(std::min(url.find("://") + 3, url.size()));
  url.remove_prefix(std::min(url.find_first_of("/?#"), url.size()));
  url = url.substr(0, url.find_first_of("?#"));
  return url.empty() ? "/" : std::string{url};
}

// The question that a refused request would become.
Ask question_about(const Explanation& explanation, const control::ControlRequest& request) {
  const acl::Decision& decision = explanation.decision;
  Ask question;
  question.agent = explanation.agent->id;
  question.reason = decision.reason;
  question.host = std::string{decision.host.text()};
  question.port = decision.port;
  question.agent_reason = printable(request.reason);
  question.looks_like = imitated_by(*explanation.agent, question.host);
  const bool is_plain = equal_ignoring_case(request.url.substr(0, 7), "http://");
  question.scheme = is_plain ? "http" : "connect";
  if (decision.reason == acl::Reason::method_not_allowed ||
      decision.reason == acl::Reason::path_not_allowed) {
    question.scheme = is_plain ? "http" : "https";
    question.method = request.method.empty() ? "GET" : request.method;
    question.path = path_of(request.url);
  }
  return question;
}

std::string question_text(const Ask& ask) {
  std::string out;
  JsonObject{out}
      .add("ok", true)
      .add("id", ask.id)
      .add("state", text(ask.state))
      .add("host", ask.host)
      .add("port", ask.port);
  return out;
}

std::string detail_of(const Ask& ask, const control::ControlRequest& request,
                      std::int64_t seconds) {
  std::string text = request.verdict + ' ' + destination_of(ask);
  if (!request.hosts.empty()) {
    text += " as";
    for (const auto& pattern : request.hosts) text += ' ' + pattern.text();
  }
  text += " for " + std::to_string(seconds) + "s";
  if (request.max_requests) text += ", " + std::to_string(*request.max_requests) + " requests";
  if (request.bytes_up) text += ", " + std::to_string(*request.bytes_up) + " bytes up";
  if (!request.reason.empty()) text += "; " + request.reason;
  return text;
}

}  // namespace

void Commands::list_asks(const Request& request, const Client& client) {
  auto asks = asks_.open();
  if (!request.agent.empty()) {
    if (find(request.agent, client) == nullptr) return;
    std::erase_if(asks, [&](const Ask& ask) { return ask.agent != request.agent; });
  }
  if (request.follow) {
    client->hold();
    asks_.follow(client);  // first: the answer may find the client gone, and closes it
  }
  client->answer(asks_text(asks, unix_micros()));
}

// On behalf of an agent, by its captain. Judged as a request of the agent would be; only a person's
// answer changes what it may reach.
void Commands::ask(const Request& request, const Client& client) {
  const auto explanation = commands::explain(*editor_.policy().snapshot(), request, unix_micros());
  if (!explanation) return client->fail(explanation.error());
  const acl::Decision& decision = explanation->decision;
  if (decision.passes()) {
    std::string out;
    JsonObject{out}
        .add("ok", true)
        .add("state", "allowed")
        .add("host", decision.host.text())
        .add("port", decision.port);
    return client->answer(out);
  }
  if (!decision.may_ask) {
    return client->fail({ErrorCode::denied_by_rule, std::string{acl::sentence(decision.reason)} +
                                                        " No person can be asked about this: " +
                                                        std::string{acl::text(decision.reason)}});
  }
  const auto asked = asks_.ask_for(question_about(*explanation, request), *explanation->agent,
                                   client->peer().name);
  if (!asked) {
    return client->fail({ErrorCode::conflict,
                         "agent " + request.agent +
                             " has 4 open asks by others, or the path is too long to ask about"});
  }
  client->answer(question_text(*asked));
}

void Commands::answer(const Request& request, const Client& client) {
  const auto ask = asks_.find(request.ask);
  if (!ask) {
    return client->fail({ErrorCode::bad_request, "there is no ask " + in_quotes(request.ask),
                         "stile asks   # those that are open"});
  }
  if (ask->state != Ask::State::open) {
    return client->fail({ErrorCode::conflict, "ask " + ask->id + " is no longer open: " +
                                                  std::string{text(ask->state)}});
  }
  const auto* running = find(ask->agent, client);
  if (running == nullptr) return;
  const bool allows = request.verdict == "allow";
  if (!allows && (!request.hosts.empty() || request.max_requests || request.bytes_up)) {
    return client->fail(
        {ErrorCode::bad_request, "hosts, max_requests and bytes_up are for \"allow\""});
  }
  const UnixMicros now = unix_micros();
  Request granted = request;
  granted.agent = ask->agent;
  // An answer always has an end.
  if (!granted.ttl_seconds) granted.ttl_seconds = AskBook::remembered_for.count();
  const UnixMicros until = now + *granted.ttl_seconds * 1'000'000;
  std::string detail = detail_of(*ask, request, *granted.ttl_seconds);
  control::Edit edit;
  std::string grant;
  if (allows) {
    auto overlay = overlay_for(*ask, *running, granted, client, grant);
    if (!overlay) return client->fail(overlay.error());
    edit.agents[ask->agent] = std::make_shared<const control::AgentOverlay>(std::move(*overlay));
    detail += " (grant " + grant + ")";
  }
  if (!asks_.begin_answer(ask->id)) {
    return client->fail({ErrorCode::conflict, "ask " + ask->id + " is being answered already"});
  }
  control::ChangeLine line{audit::Event::answer, ask->agent, client->peer().name, std::move(detail),
                           !allows};
  line.verdict = allows ? acl::Verdict::allow : acl::Verdict::deny;
  line.request = ask->id;
  line.host = ask->host;
  line.port = ask->port;
  // A refusal holds from now on, whatever becomes of the disk.
  if (!allows) asks_.end_answer(ask->id, Ask::State::refused, until);
  editor_.commit(edit, std::move(line),
                 [this, client, grant, until, allows, id = ask->id](const Outcome<void>& outcome) {
                   if (allows) {
                     asks_.end_answer(
                         id, outcome ? std::optional{Ask::State::allowed} : std::nullopt, until);
                   }
                   if (!outcome) return client->fail(outcome.error());
                   std::string answer;
                   {
                     JsonObject object{answer};
                     object.add("ok", true).add("ask", id);
                     if (allows) object.add("grant", grant);
                   }
                   client->answer(answer);
                 });
}

Outcome<control::AgentOverlay> Commands::overlay_for(const Ask& ask,
                                                     const control::LivePolicy::Running& running,
                                                     Request& request, const Client& client,
                                                     std::string& grant) const {
  control::Asked asked{client->peer().name, unix_micros(), random_hex(6), {}};
  if (ask.is_for_one_request()) {
    if (!request.hosts.empty()) {
      return Failure{ErrorCode::bad_request,
                     "this ask is for one request, and no pattern of hosts widens it; add a "
                     "request entry instead"};
    }
    asked.only = acl::GrantedRequest{ask.method, ask.path};
  }
  if (request.hosts.empty()) {
    auto exact = asked_pattern(ask);
    if (!exact) return exact.error();
    request.hosts = std::move(*exact);
  }
  auto permission =
      control::allow(*running.entry->policy, *editor_.policy().overlay(ask.agent), request, asked);
  if (!permission) return permission.error();
  if (const auto checked = check_effect(ask, running, permission->overlay, asked.now); !checked) {
    return checked.error();
  }
  if (permission->is_granted) grant = asked.id;
  return std::move(permission->overlay);
}

}  // namespace stile::commands
