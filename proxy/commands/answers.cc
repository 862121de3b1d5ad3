// Answers of the control socket: every view as one line of JSON.
#include "proxy/commands/answers.h"

#include <algorithm>

#include "base/json.h"
#include "base/unix_time.h"

namespace stile::commands {
namespace {

void add_rules(JsonObject& object, const std::string& name, const RulesView& rules) {
  object.add(name, rules.patterns).add(name + "_rules", rules.count);
}

void add_expiry(JsonObject& object, const std::optional<UnixMicros>& expires,
                const std::optional<std::int64_t>& seconds_left) {
  if (expires) object.add("expires", time_text(*expires));
  if (seconds_left) object.add("seconds_left", *seconds_left);
}

void add_ports(JsonObject& object, std::string_view name, const std::vector<std::uint16_t>& ports) {
  JsonArray array{object.key(name)};
  for (const auto port : ports) array.next() += std::to_string(port);
}

void add_grant(std::string& out, const GrantView& grant) {
  JsonObject object{out};
  object.add("id", grant.id).add("hosts", grant.hosts);
  if (grant.created != 0) object.add("created", time_text(grant.created));
  add_expiry(object, grant.expires, grant.seconds_left);
  if (grant.max_requests) {
    object.add("max_requests", *grant.max_requests).add("requests_left", grant.requests_left);
  }
  if (grant.bytes_up) {
    object.add("bytes_up", *grant.bytes_up).add("bytes_up_left", grant.bytes_up_left);
  }
  if (!grant.reason.empty()) object.add("reason", grant.reason);
  object.add("actor", grant.actor);
}

void add_grants(JsonObject& object, const std::vector<GrantView>& grants) {
  JsonArray array{object.key("grants")};
  for (const auto& grant : grants) add_grant(array.next(), grant);
}

void add_budget(JsonObject& budgets, std::string_view name,
                const std::optional<BudgetView>& budget) {
  if (!budget) return;
  JsonObject object{budgets.key(name)};
  object.add("total", budget->total).add("used", budget->used).add("left", budget->left);
  if (budget->slice) object.add("slice", *budget->slice).add("waiting", budget->is_waiting);
}

void add_counters(JsonObject& object, const Totals& totals) {
  object.add("requests_allowed", totals.allowed).add("requests_denied", totals.denied);
  object.add("requests_would_deny", totals.would_deny).add("tunnels_open", totals.tunnels_open);
  object.add("connections_refused", totals.connections_refused);
  object.add("bytes_up", totals.bytes_up).add("bytes_down", totals.bytes_down);
}

// Common to the short and the long form.
void add_summary(JsonObject& object, const AgentView& agent) {
  object.add("id", agent.id);
  if (!agent.instance.empty()) object.add("instance", agent.instance);
  object.add("source", agent.sources).add("entry", agent.entry);
  object.add("mode", acl::text(agent.mode));
  add_expiry(object, agent.expires, agent.seconds_left);
  object.add("connections", agent.connections);
  if (agent.check) {
    JsonObject containment{object.key("containment")};
    containment.add("checked", time_text(agent.check->time)).add("holds", agent.check->holds);
    if (!agent.check->problem.empty()) containment.add("problem", agent.check->problem);
  }
  {
    JsonObject budgets{object.key("budgets")};
    add_budget(budgets, "bytes_up", agent.bytes_up);
    add_budget(budgets, "bytes_down", agent.bytes_down);
  }
  JsonArray hosts{object.key("host_budgets")};
  for (const auto& budget : agent.host_budgets) {
    JsonObject member{hosts.next()};
    member.add("host", budget.host);
    add_budget(member, "max_requests", budget.max_requests);
    add_budget(member, "requests_per_minute", budget.requests_per_minute);
    add_budget(member, "tokens", budget.tokens);
  }
}

void add_rejected(JsonObject& object, const std::vector<RejectedCardView>& cards) {
  JsonArray array{object.key("rejected_cards")};
  for (const auto& card : cards) {
    JsonObject member{array.next()};
    member.add("file", card.file).add("agent", card.agent).add("problem", card.problem);
  }
}

void add_ping(JsonObject& object, const PingView& view) {
  object.add("ok", true).add("version", view.version);
  if (!view.program.empty()) object.add("program", view.program);
  object.add("uptime_seconds",
             std::chrono::duration_cast<std::chrono::seconds>(view.uptime).count());
  object.add("generation", view.generation).add("config", view.config);
  object.add("mode", acl::text(view.mode)).add("workers", view.workers);
  object.add("draining", view.drain_time_left.has_value());
  if (view.drain_time_left) {
    object.add("drain_seconds_left",
               std::chrono::ceil<std::chrono::seconds>(*view.drain_time_left).count());
  }
  if (view.is_capturing) object.add("capture", *view.is_capturing ? "served" : "missing");
  if (const auto& fences = view.containment; fences.checked > 0) {
    JsonObject containment{object.key("containment")};
    containment.add("checked", fences.checked).add("failed", fences.failed);
    if (!fences.problem.empty()) containment.add("problem", fences.problem);
  }
  add_rejected(object, view.rejected_cards);
}

void add_fleet(JsonObject& object, const FleetView& view) {
  JsonObject fleet{object.key("fleet")};
  fleet.add("connected", view.is_connected).add("age_seconds", view.age_seconds);
  fleet.add("offline", view.is_offline);
  {
    JsonObject serials{fleet.key("serials")};
    for (const auto& [name, serial] : view.serials) serials.add(name, serial);
  }
  JsonArray refused{fleet.key("refused")};
  for (const auto& one : view.refused) {
    JsonObject{refused.next()}.add("name", one.name).add("reason", one.reason);
  }
}

}  // namespace

std::string json(Done) { return R"({"ok":true})"; }

std::string json(const Named& named) {
  std::string out;
  JsonObject{out}.add("ok", true).add(named.key, named.value);
  return out;
}

std::string json(const PingView& view) {
  std::string out;
  {
    JsonObject object{out};
    add_ping(object, view);
  }
  return out;
}

std::string json(const StatusView& view) {
  std::string out;
  {
    JsonObject object{out};
    add_ping(object, view.ping);
    object.add("agents", view.agents).add("grants", view.grants);
    object.add("asks", view.asks);
    object.add("connections_open", view.connections);
    add_counters(object, view.totals);
    object.add("audit_events", view.audit_events).add("audit_gaps", view.audit_gaps);
    if (!view.audit_problem.empty()) object.add("audit_problem", view.audit_problem);
    if (view.fleet) add_fleet(object, *view.fleet);
  }
  return out;
}

std::string json(const AgentViews& agents) {
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true);
    JsonArray array{object.key("agents")};
    for (const auto& agent : agents) {
      JsonObject member{array.next()};
      add_summary(member, agent);
      member.add("rules", agent.rules);
      add_grants(member, agent.grants);
      add_counters(member, agent.totals);
    }
  }
  return out;
}

std::string json(const AgentDetailView& view) {
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true);
    JsonObject member{object.key("agent")};
    add_summary(member, view.agent);
    {
      JsonObject effective{member.key("policy")};
      add_rules(effective, "allow", view.allow);
      add_rules(effective, "deny", view.deny);
      effective.add("opened", view.opened).add("allow_files", view.allow_files);
      add_ports(effective, "ports", view.ports);
      add_ports(effective, "http_ports", view.http_ports);
      effective.add("allow_ip", view.allow_ip).add("sni", view.sni).add("ech", view.ech);
      effective.add("unlisted", view.unlisted);
      effective.add("connections_per_agent", view.connections_per_agent);
      effective.add("requests_per_second", view.requests_per_second);
    }
    member.add("revoked", view.revoked);
    add_grants(member, view.agent.grants);
    JsonObject counters{member.key("counters")};
    add_counters(counters, view.agent.totals);
  }
  return out;
}

std::string json(const std::vector<std::vector<session::ConnectionInfo>>& parts) {
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true);
    JsonArray all{object.key("connections")};
    for (const auto& part : parts) {
      for (const auto& info : part) {
        JsonObject member{all.next()};
        member.add("agent", info.agent).add("host", info.host).add("port", info.port);
        member.add("origin", info.origin).add("bytes_up", info.bytes_up);
        member.add("bytes_down", info.bytes_down).add_seconds("age_seconds", info.age_seconds);
      }
    }
  }
  return out;
}

std::string json(const Explanation& explanation) {
  const acl::Decision& decision = explanation.decision;
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true).add("verdict", acl::text(decision.verdict));
    object.add("reason", acl::text(decision.reason));
    object.add("agent", explanation.agent ? explanation.agent->id : "-");
    if (!decision.host.text().empty()) object.add("host", decision.host.text());
    if (decision.literal) object.add("host", decision.literal->text());
    if (decision.port != 0) object.add("port", decision.port);
    object.add("rule", decision.rule_text());
    if (decision.grant != nullptr) object.add("grant", decision.grant->id);
    object.add("asks", decision.may_ask);
    object.add("message", std::string{acl::sentence(decision.reason)} +
                              (decision.may_ask ? " A person is asked about it first." : ""));
    JsonArray steps{object.key("steps")};
    int last = 0;
    const auto add = [&steps](const acl::TraceStep& step) {
      JsonObject member{steps.next()};
      member.add("number", step.number).add("step", step.step);
      member.add("result", step.result).add("detail", step.detail);
    };
    for (const auto& step : explanation.steps) {
      if (step.number > 10) continue;
      add(step);
      last = step.number;
    }
    constexpr std::string_view later[] = {"address", "origin", "hello"};
    for (int number = std::max(last + 1, 8); number <= 10; ++number) {
      JsonObject member{steps.next()};
      member.add("number", number).add("step", later[number - 8]);
      member.add("result", "not-run").add("detail", number == 10 ? hello_detail(explanation) : "");
    }
    for (const auto& step : explanation.steps) {
      if (step.number > 10) add(step);
    }
  }
  return out;
}

std::string json(const AllowView& view) {
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true);
    if (!view.grant.empty()) object.add("grant", view.grant);
    if (!view.restored.empty()) object.add("restored", view.restored);
  }
  return out;
}

std::string json(const RevokeView& view) {
  std::string out;
  JsonObject{out}.add("ok", true).add("ended", view.ended).add("denied", view.denied);
  return out;
}

std::string json(const ReloadView& view) {
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true).add("generation", view.result.generation);
    {
      JsonArray changed{object.key("changed")};
      for (const auto& change : view.result.changes) {
        JsonObject{changed.next()}
            .add("agent", change.agent)
            .add("added", change.added)
            .add("removed", change.removed);
      }
    }
    add_rejected(object, view.rejected_cards);
  }
  return out;
}

std::string json(const control::WrittenConfig& config) {
  std::vector<RejectedCardView> rejected;
  for (const auto& card : config.rejected) {
    rejected.push_back({card.file, card.id, card.problems.text()});
  }
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true).add("file", config.file).add("digest", config.digest);
    add_rejected(object, rejected);
    object.add("text", config.text);
  }
  return out;
}

std::string json(const audit::Log::Head& head) {
  std::string out;
  JsonObject{out}.add("ok", true).add("seq", head.seq).add("head", head.hash);
  return out;
}

std::string json(const control::LogNews& news) {
  std::string out;
  {
    JsonObject object{out};
    object.add("event", news.is_failing ? "audit-failing" : "audit-restored");
    if (!news.is_failing) object.add("count", news.lost);
    object.add("detail", news.text);
  }
  return out;
}

}  // namespace stile::commands
