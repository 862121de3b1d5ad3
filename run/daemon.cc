// Daemon: a running stiled serves the command, through its control socket.
#include "run/daemon.h"

#include <chrono>
#include <cstdio>
#include <exception>

#include "acl/secret.h"
#include "base/contains.h"
#include "base/json_value.h"
#include "base/quoted.h"
#include "base/random.h"
#include "base/unix_time.h"
#include "config/schema.h"

namespace stile::run {
namespace {

constexpr std::chrono::seconds last_lines{2};
// A daemon answers in milliseconds unless it is stopped.
constexpr control::ControlClient::Bounds client_bounds{std::chrono::seconds{5},
                                                       std::size_t{1} << 20U};

Result<Json> answer_of(control::ControlClient& daemon, const Json& request, int descriptor = -1) {
  const auto line = daemon.ask(request.dump(), descriptor);
  if (!line) return Error{line.error().message + "; nothing was run"};
  auto answer = Json::parse(*line);
  if (!answer.is_object()) return Error{"the daemon's answer cannot be read"};
  if (flag_of(answer, "ok")) {
    return Result<Json>{boost::system::in_place_value, std::move(answer)};
  }
  return Error{"the daemon refuses: " + text_of(object_of(answer, "error"), "message")};
}

Result<void> ask(control::ControlClient& daemon, const Json& request, int descriptor = -1) {
  const auto answer = answer_of(daemon, request, descriptor);
  if (!answer) return answer.error();
  return {};
}

// The variable of a secret of the daemon, as the agent gets it; "": it has none.
std::string variable_of(const Json& listed, const std::string& agent) {
  const auto name = text_of(listed, "agent_env");
  if (name.empty()) return {};
  acl::Secret secret;
  secret.name = text_of(listed, "name");
  secret.placeholder = text_of(listed, "placeholder");
  for (const Json& host : list_of(listed, "hosts")) {
    if (auto pattern = acl::Pattern::parse(host.text()))
      secret.hosts.push_back(std::move(*pattern));
  }
  return name + '=' + acl::placeholder_of(agent, secret);
}

// The agent does not exist yet, so the daemon cannot say what it needs.
Result<Trust> ask_trust(control::ControlClient& daemon, const config::AgentSettings& settings,
                        const std::string& agent) {
  Trust trust;
  const bool opens =
      !settings.secrets.empty() || !settings.request.empty() || !settings.can.empty();
  if (!opens) return trust;
  const auto ca = answer_of(daemon, {{"action", "trust"}});
  if (!ca) return ca.error();
  trust.ca = text_of(*ca, "ca");
  if (settings.secrets.empty()) return trust;
  const auto answer = answer_of(daemon, {{"action", "secrets"}});
  if (!answer) return answer.error();
  for (const Json& listed : list_of(*answer, "secrets")) {
    const auto& used = settings.secrets;
    if (!contains(used, text_of(listed, "name"))) {
      continue;
    }
    if (auto variable = variable_of(listed, agent); !variable.empty()) {
      trust.variables.push_back(std::move(variable));
    }
  }
  return trust;
}

Json texts_of(const std::vector<config::PlacedPattern>& patterns) {
  Json list = Json::list();
  for (const auto& placed : patterns) list.add(placed.pattern.text());
  return list;
}

// The original card with the keys that flags, profile and restriction may have changed. The daemon
// needs none of the launcher's keys, and some of them are secrets.
Result<Json> make_card(const Launch& launch) {
  const auto& agent = launch.permissions.agent;
  Json card = Json::object();
  if (launch.card.empty()) {
    card.set("agent_id", "run-" + random_hex(6));
  } else {
    card = Json::parse(launch.card);
    if (!card.is_object()) return Error{"the card cannot be read"};
  }
  for (const auto key : config::launcher_keys()) card.remove(key);
  for (const auto* key : {"allow", "deny", "ttl_seconds", "created", "expires"}) card.remove(key);
  card.set("allowed_hosts", texts_of(agent.allow));
  card.set("denied_hosts", texts_of(agent.deny));
  card.set("allow_files", agent.allow_files);
  if (!agent.can.empty()) {
    Json can = Json::list();
    for (const auto& one : agent.can) can.add(one.text);
    card.set("can", std::move(can));
  }
  if (agent.allow_ip.empty()) card.remove("allow_ip");
  if (agent.ech && !agent.ech->everywhere) card.set("ech", texts_of(agent.ech->hosts));
  if (agent.asks) card.set("unlisted", *agent.asks ? "ask" : "refuse");
  if (agent.mode) card.set("mode", acl::text(*agent.mode));
  if (agent.expires) card.set("expires", time_text(*agent.expires));
  return Result<Json>{boost::system::in_place_value, std::move(card)};
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::open(const std::string& socket, const Launch& launch,
                                             Summary& summary) {
  const auto card = make_card(launch);
  if (!card) return card.error();
  std::vector<control::ControlClient> connections;
  for (int i = 0; i < 3; ++i) {
    auto connected = control::ControlClient::connect(socket, client_bounds);
    if (!connected) return Error{connected.error().message};
    connections.push_back(std::move(*connected));
  }
  const auto agent = text_of(*card, has(*card, "agent_id") ? "agent_id" : "id");
  auto trust = ask_trust(connections.back(), launch.permissions.agent, agent);
  if (!trust) return trust.error();
  std::unique_ptr<Daemon> made{new Daemon{card->dump(), agent, std::move(connections), summary}};
  made->trust_ = std::move(*trust);
  return made;
}

Daemon::Daemon(std::string card, std::string agent, std::vector<control::ControlClient> connections,
               Summary& summary)
    : card_{std::move(card)},
      agent_{std::move(agent)},
      adoption_{std::move(connections[0])},
      tail_{std::move(connections[1])},
      questions_{std::move(connections[2])},
      summary_{summary} {}

Result<void> Daemon::serve(UniqueFd listener, std::vector<UniqueFd> captured) {
  const Json adopt{{"action", "adopt-listener"}, {"card", Json::parse(card_)}};
  if (auto done = ask(*adoption_, adopt, listener.get()); !done) return done;
  const Json capture{{"action", "adopt-capture"}, {"agent", agent_}};
  for (const UniqueFd& socket : captured) {
    if (auto done = ask(*adoption_, capture, socket.get()); !done) {
      return Error{done.error().message + "; --no-capture runs it without"};
    }
  }
  const Json tail{{"action", "tail"}, {"agent", agent_}};
  if (auto done = ask(tail_, tail); !done) return done;
  reader_ = std::thread{[this] { read_tail(); }};
  return {};
}

void Daemon::read_tail() {
  while (true) {
    const auto line = tail_.next_line(std::nullopt);
    if (!line || !*line) break;
    summary_.add(**line + '\n');
  }
  if (is_stopping_) return;
  summary_.note("the daemon at " + printable(tail_.path()) +
                " has ended: from here on, the command could reach nothing, and the counts below"
                " may not be complete");
}

Daemon::~Daemon() {
  try {
    stop();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "stile: %s\n", problem.what());
  }
}

void Daemon::stop() {
  if (!reader_.joinable()) return;
  is_stopping_ = true;
  adoption_.reset();  // removes the agent and closes its connections
  summary_.wait_until_closed(last_lines);
  // The answer comes after all lines that were written before the request; lines that have arrived
  // can still be read after the shutdown.
  static_cast<void>(ask(questions_, Json{{"action", "ping"}}));
  tail_.shut_down();
  reader_.join();
}

}  // namespace stile::run
