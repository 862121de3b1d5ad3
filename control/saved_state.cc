// SavedState: writes it.
#include "control/saved_state.h"

#include "base/json.h"

namespace stile::control {
namespace {

std::vector<std::string> texts(const std::vector<acl::Pattern>& patterns) {
  std::vector<std::string> all;
  all.reserve(patterns.size());
  for (const auto& pattern : patterns) all.push_back(pattern.text());
  return all;
}

void append_grant(std::string& out, const GrantState& grant) {
  JsonObject object{out};
  object.add("id", grant.id).add("hosts", texts(grant.hosts)).add("created", grant.created);
  if (grant.expires) object.add("expires", *grant.expires);
  if (grant.max_requests) {
    object.add("max_requests", *grant.max_requests);
    object.add("requests_used", recorded_of(grant.max_requests, grant.made.lease->requests));
  }
  if (grant.bytes_up) {
    object.add("bytes_up", *grant.bytes_up);
    object.add("bytes_up_used", recorded_of(grant.bytes_up, grant.made.lease->bytes_up));
  }
  if (grant.made.only) object.add("method", grant.made.only->method);
  if (grant.made.only) object.add("path", grant.made.only->path);
  if (!grant.reason.empty()) object.add("reason", grant.reason);
  object.add("actor", grant.actor);
}

void append_agent(std::string& out, const SavedAgent& agent) {
  JsonObject object{out};
  object.add("id", agent.id).add("instance", agent.identity.instance);
  object.add("source", agent.identity.sources).add("entry", agent.identity.entry);
  if (agent.overlay.mode) object.add("mode", acl::text(*agent.overlay.mode));
  if (!agent.overlay.removed.empty()) object.add("removed", agent.overlay.removed);
  if (agent.used_up > 0) object.add("used_up", agent.used_up);
  if (agent.used_down > 0) object.add("used_down", agent.used_down);
  if (!agent.overlay.denied.empty()) object.add("denied", texts(agent.overlay.denied));
  if (!agent.hosts.empty()) {
    JsonArray hosts{object.key("used_hosts")};
    for (const auto& used : agent.hosts) {
      JsonObject member{hosts.next()};
      member.add("host", used.host).add("requests", used.requests).add("tokens", used.tokens);
      if (used.minute.count == 0) continue;
      member.add("minute", used.minute.start).add("minute_requests", used.minute.count);
    }
  }
  if (agent.overlay.grants.empty()) return;
  JsonArray grants{object.key("grants")};
  for (const auto& grant : agent.overlay.grants) append_grant(grants.next(), grant);
}

void append_ask(std::string& out, const SavedAsk& saved) {
  const Ask& ask = saved.ask;
  JsonObject object{out};
  object.add("id", ask.id).add("agent", ask.agent).add("instance", saved.identity.instance);
  object.add("source", saved.identity.sources).add("state", text(ask.state));
  object.add("reason", acl::text(ask.reason)).add("scheme", ask.scheme).add("host", ask.host);
  object.add("port", ask.port).add("method", ask.method).add("path", ask.path);
  object.add("agent_reason", ask.agent_reason).add("looks_like", ask.looks_like);
  if (!ask.asked_by.empty()) object.add("asked_by", ask.asked_by);
  object.add("count", ask.count);
  object.add("first_seen", ask.first_seen).add("expires", ask.expires);
}

}  // namespace

// One line per card and agent: readable, and easy to diff.
std::string state_text(const SavedState& state) {
  std::string out;
  {
    JsonObject object{out};
    object.add("version", SavedState::version);
    if (state.mode) object.add("mode", acl::text(*state.mode));
    object.add("audit_seq", state.audit_seq).add("audit_hash", state.audit_hash);
    {
      JsonArray cards{object.key("cards")};
      for (const auto& card : state.cards) {
        JsonObject member{cards.next() += '\n'};
        member.add("received", card.received).add("card", card.text);
      }
    }
    {
      JsonArray agents{object.key("agents")};
      for (const auto& agent : state.agents) append_agent(agents.next() += '\n', agent);
    }
    JsonArray asks{object.key("asks")};
    for (const auto& ask : state.asks) append_ask(asks.next() += '\n', ask);
  }
  return out + '\n';
}

}  // namespace stile::control
