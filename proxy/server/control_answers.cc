// Answers of the control socket: policies and counters as JSON text.
#include "proxy/server/control_answers.h"

#include <algorithm>

#include "base/json.h"
#include "base/unix_time.h"
#include "proxy/server/version.h"

namespace stile::server {
namespace {

using Running = control::LivePolicy::Running;

// A list file may have a million; those beyond this number are only counted.
constexpr std::size_t max_patterns_shown = 1000;

std::size_t count_of(const acl::Rules& rules) {
  std::size_t count = 0;
  for (const auto& set : rules.sets) count += set->size();
  return count;
}

void add_rules(JsonObject& object, std::string_view name, const acl::Rules& rules) {
  {
    JsonArray array{object.key(name)};
    std::size_t shown = 0;
    for (const auto& set : rules.sets) {
      for (std::uint32_t i = 0; i < set->size() && shown < max_patterns_shown; ++i, ++shown) {
        append_quoted(array.next(), acl::RuleRef{set.get(), i}.pattern());
      }
    }
  }
  object.add(std::string{name} + "_rules", count_of(rules));
}

void add_time(JsonObject& object, std::string_view name, const std::optional<UnixMicros>& time) {
  if (time) object.add(name, time_text(*time));
}

void add_seconds_left(JsonObject& object, const std::optional<UnixMicros>& end, UnixMicros now) {
  if (end) object.add("seconds_left", std::max<std::int64_t>(0, (*end - now) / 1'000'000));
}

void add_ports(JsonObject& object, std::string_view name, const std::vector<std::uint16_t>& ports) {
  JsonArray array{object.key(name)};
  for (const auto port : ports) array.next() += std::to_string(port);
}

void add_grant(std::string& out, const control::GrantState& grant, UnixMicros now) {
  JsonObject object{out};
  std::vector<std::string> hosts;
  for (const auto& host : grant.hosts) hosts.push_back(host.text());
  object.add("id", grant.id).add("hosts", hosts);
  object.add("created", time_text(grant.created));
  add_time(object, "expires", grant.expires);
  add_seconds_left(object, grant.expires, now);
  const acl::Lease& lease = *grant.made.lease;
  if (grant.max_requests) {
    object.add("max_requests", *grant.max_requests).add("requests_left", lease.requests.left());
  }
  if (grant.bytes_up) {
    object.add("bytes_up", *grant.bytes_up).add("bytes_up_left", lease.bytes_up.left());
  }
  if (!grant.reason.empty()) object.add("reason", grant.reason);
  object.add("actor", grant.actor);
}

void add_budget(JsonObject& budgets, std::string_view name,
                const std::optional<std::uint64_t>& total, const acl::Allowance& left) {
  if (!total) return;
  JsonObject budget{budgets.key(name)};
  budget.add("total", *total).add("used", control::used_of(total, left)).add("left", left.left());
}

void add_counters(JsonObject& object, const Totals& totals) {
  object.add("requests_allowed", totals.allowed).add("requests_denied", totals.denied);
  object.add("requests_would_deny", totals.would_deny).add("tunnels_open", totals.tunnels_open);
  object.add("connections_refused", totals.connections_refused);
  object.add("bytes_up", totals.bytes_up).add("bytes_down", totals.bytes_down);
}

std::string origin_of(const control::LivePolicy& policy, const Running& agent) {
  if (policy.is_put(agent.policy->id)) return "put-agent";
  const auto& place = agent.entry->settings.place;
  return place.line > 0 ? place.file + ':' + std::to_string(place.line) : place.file;
}

// Common to the short and the long form.
void add_summary(JsonObject& object, const control::LivePolicy& policy, const Running& agent,
                 UnixMicros now) {
  const acl::AgentPolicy& now_in_force = *agent.policy;
  object.add("id", now_in_force.id);
  if (!now_in_force.instance.empty()) object.add("instance", now_in_force.instance);
  object.add("source", agent.entry->identity.sources).add("entry", origin_of(policy, agent));
  object.add("mode", acl::text(now_in_force.mode));
  add_time(object, "expires", now_in_force.expires);
  add_seconds_left(object, now_in_force.expires, now);
  object.add("connections", agent.account->connections.load(std::memory_order_relaxed));
  JsonObject budgets{object.key("budgets")};
  add_budget(budgets, "bytes_up", now_in_force.bytes_up, agent.account->bytes_up);
  add_budget(budgets, "bytes_down", now_in_force.bytes_down, agent.account->bytes_down);
}

void add_grants(JsonObject& object, const control::AgentOverlay& overlay, UnixMicros now) {
  JsonArray grants{object.key("grants")};
  for (const auto& grant : overlay.grants) add_grant(grants.next(), grant, now);
}

void add_rejected(JsonArray& cards, std::string_view file, std::string_view id,
                  const config::Diagnostics& problems) {
  JsonObject card{cards.next()};
  card.add("file", file).add("agent", id).add("problem", problems.text());
}

void add_rejected_cards(JsonObject& object, const control::LivePolicy& policy) {
  JsonArray cards{object.key("rejected_cards")};
  for (const auto& card : policy.base().loaded.cards.rejected) {
    add_rejected(cards, card.file, card.id, card.problems);
  }
  for (const auto& [id, problems] : policy.refused_cards()) {
    add_rejected(cards, "put-agent", id, problems);
  }
}

}  // namespace

TotalsByAgent sum_up(const std::vector<Report>& reports) {
  TotalsByAgent all;
  for (const auto& report : reports) {
    for (const auto& series : report.requests) {
      Totals& totals = all[series.agent];
      auto& count = series.verdict == acl::Verdict::allow  ? totals.allowed
                    : series.verdict == acl::Verdict::deny ? totals.denied
                                                           : totals.would_deny;
      count += series.count;
    }
    for (const auto& agent : report.agents) {
      Totals& totals = all[agent.id];
      totals.tunnels_open += agent.tunnels_open;
      totals.connections_refused += agent.connections_refused;
      totals.bytes_up += agent.bytes_up;
      totals.bytes_down += agent.bytes_down;
    }
  }
  return all;
}

std::string status_head(const control::LivePolicy& policy, const StatusHead& head) {
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true).add("version", version);
    object.add("uptime_seconds",
               std::chrono::duration_cast<std::chrono::seconds>(head.uptime).count());
    object.add("generation", policy.snapshot()->generation());
    object.add("config", policy.base().loaded.settings.file);
    object.add("mode", acl::text(policy.mode())).add("workers", head.workers);
    object.add("draining", head.drain_time_left.has_value());
    if (head.drain_time_left) {
      object.add("drain_seconds_left",
                 std::chrono::ceil<std::chrono::seconds>(*head.drain_time_left).count());
    }
    add_rejected_cards(object, policy);
  }
  return out.substr(1, out.size() - 2);
}

std::string status_totals(const control::LivePolicy& policy, const TotalsByAgent& totals,
                          const StatusTail& tail) {
  Totals sum;
  for (const auto& [id, one] : totals) {
    sum.allowed += one.allowed;
    sum.denied += one.denied;
    sum.would_deny += one.would_deny;
    sum.tunnels_open += one.tunnels_open;
    sum.connections_refused += one.connections_refused;
    sum.bytes_up += one.bytes_up;
    sum.bytes_down += one.bytes_down;
  }
  std::size_t grants = 0;
  for (const auto& [id, overlay] : policy.overlays()) grants += overlay->grants.size();
  std::string out;
  {
    JsonObject object{out};
    object.add("agents", policy.agents().size()).add("grants", grants);
    object.add("connections_open", tail.connections);
    add_counters(object, sum);
    object.add("audit_events", tail.audit_events).add("audit_gaps", tail.audit_gaps);
    if (!tail.audit_problem.empty()) object.add("audit_problem", tail.audit_problem);
  }
  return out.substr(1, out.size() - 2);
}

std::string agents_text(const control::LivePolicy& policy, TotalsByAgent totals, UnixMicros now) {
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true);
    JsonArray agents{object.key("agents")};
    for (const auto& [id, agent] : policy.agents()) {
      JsonObject member{agents.next()};
      add_summary(member, policy, agent, now);
      member.add("rules", count_of(agent.policy->allow) + count_of(agent.policy->deny));
      add_grants(member, *policy.overlay(id), now);
      add_counters(member, totals[id]);
    }
  }
  return out;
}

std::string agent_text(const control::LivePolicy& policy, const Running& agent,
                       const Totals& totals, UnixMicros now) {
  const acl::AgentPolicy& in_force = *agent.policy;
  const auto overlay = policy.overlay(in_force.id);
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true);
    JsonObject member{object.key("agent")};
    add_summary(member, policy, agent, now);
    {
      JsonObject effective{member.key("policy")};
      add_rules(effective, "allow", in_force.allow);
      add_rules(effective, "deny", in_force.deny);
      effective.add("allow_files", agent.entry->settings.allow_files);
      add_ports(effective, "ports", in_force.ports);
      add_ports(effective, "http_ports", in_force.http_ports);
      std::vector<std::string> addresses;
      for (const auto& address : in_force.allow_ip) addresses.push_back(address.text());
      effective.add("allow_ip", addresses);
      effective.add("sni", in_force.check_sni ? "match" : "off");
      effective.add("ech", text(in_force.ech));
      effective.add("connections_per_agent", in_force.max_connections);
      effective.add("requests_per_second", in_force.requests_per_second);
    }
    std::vector<std::string> revoked;
    for (const auto& pattern : overlay->denied) revoked.push_back(pattern.text());
    member.add("revoked", revoked);
    add_grants(member, *overlay, now);
    JsonObject counters{member.key("counters")};
    add_counters(counters, totals);
  }
  return out;
}

std::string connections_text(const std::vector<std::vector<session::ConnectionInfo>>& parts) {
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

std::string reload_text(const control::LivePolicy& policy, const ReloadResult& result) {
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true).add("generation", result.generation);
    {
      JsonArray changed{object.key("changed")};
      for (const auto& change : result.changes) {
        JsonObject{changed.next()}
            .add("agent", change.agent)
            .add("added", change.added)
            .add("removed", change.removed);
      }
    }
    add_rejected_cards(object, policy);
  }
  return out;
}

std::string config_text(const WrittenConfig& config) {
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true).add("file", config.file).add("digest", config.digest);
    {
      JsonArray cards{object.key("rejected_cards")};
      for (const auto& card : config.rejected) {
        add_rejected(cards, card.file, card.id, card.problems);
      }
    }
    object.add("text", config.text);
  }
  return out;
}

std::string answer_with(std::string_view key, std::string_view value) {
  std::string out;
  JsonObject{out}.add("ok", true).add(key, value);
  return out;
}

}  // namespace stile::server
