// Asks as JSON.
#include "proxy/commands/ask_text.h"

#include <algorithm>

#include "base/json.h"
#include "base/unix_time.h"

namespace stile::commands {
namespace {

using control::Ask;

void add_destination(JsonObject& object, const Ask& ask) {
  object.add("host", ask.host).add("port", ask.port).add("scheme", ask.scheme);
  object.add("method", ask.method).add("path", ask.path);
}

void append_own(std::string& out, const Ask& ask) {
  JsonObject object{out};
  object.add("id", ask.id).add("state", text(ask.state));
  add_destination(object, ask);
  object.add("first_seen", time_text(ask.first_seen));
  object.add("expires", time_text(ask.expires));
}

}  // namespace

void append_ask(std::string& out, const Ask& ask, UnixMicros now) {
  JsonObject object{out};
  object.add("id", ask.id).add("agent", ask.agent);
  add_destination(object, ask);
  object.add("reason", acl::text(ask.reason));
  if (!ask.agent_reason.empty()) object.add("agent_reason", ask.agent_reason);
  if (!ask.asked_by.empty()) object.add("asked_by", ask.asked_by);
  if (!ask.looks_like.empty()) object.add("looks_like", ask.looks_like);
  object.add("count", ask.count).add("held", ask.held);
  object.add("first_seen", time_text(ask.first_seen)).add("expires", time_text(ask.expires));
  object.add("seconds_left", std::max<std::int64_t>(0, (ask.expires - now) / 1'000'000));
}

std::string asks_text(const std::vector<Ask>& asks, UnixMicros now) {
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true);
    JsonArray list{object.key("asks")};
    for (const Ask& ask : asks) append_ask(list.next(), ask, now);
  }
  return out;
}

std::string ask_event(const Ask& ask, UnixMicros now) {
  std::string out;
  {
    JsonObject object{out};
    object.add("event", "ask");
    append_ask(object.key("ask"), ask, now);
  }
  return out;
}

std::string answer_event(const Ask& ask) {
  std::string out;
  {
    JsonObject object{out};
    object.add("event", "answer").add("id", ask.id).add("agent", ask.agent);
    object.add("host", ask.host).add("state", text(ask.state));
    object.add("verdict", ask.state == Ask::State::allowed ? "allow" : "deny");
  }
  return out;
}

std::string own_ask_text(const Ask& ask) {
  std::string out;
  append_own(out, ask);
  return out + '\n';
}

std::string own_asks_text(const std::vector<Ask>& asks) {
  std::string out;
  {
    JsonObject object{out};
    JsonArray list{object.key("asks")};
    for (const Ask& ask : asks) append_own(list.next(), ask);
  }
  return out + '\n';
}

}  // namespace stile::commands
