// Advisor: advice about refusals in a stream of audit lines, once for each kind.
#include "cli/advisor.h"

#include <algorithm>
#include <limits>

#include "cli/situation.h"

namespace stile::cli {
namespace {

using audit::Key;

// Bounds memory: an agent can be refused at any number of hosts, any number of times.
constexpr std::size_t most_remembered = 10'000;
constexpr std::chrono::seconds situation_lasts{1};

// The ids that `stile run` gives its command: with a proxy of its own, and at a daemon.
bool is_of_a_run(const std::string& agent) { return agent == "run" || agent.starts_with("run-"); }

Refused refused_in(const audit::Line& line) {
  Refused refused;
  refused.reason = line.raw(Key::reason);
  refused.agent = line.text(Key::agent);
  refused.scheme = line.raw(Key::scheme) == "http" ? acl::Scheme::http : acl::Scheme::tunnel;
  refused.host = line.text(Key::host);
  const auto port = line.number(Key::port);
  const bool is_port = port <= std::numeric_limits<std::uint16_t>::max();
  refused.port = is_port ? static_cast<std::uint16_t>(port) : std::uint16_t{0};
  refused.rule = line.text(Key::rule);
  refused.detail = line.text(Key::detail);
  refused.ask = line.text(Key::request);
  const auto source = std::string_view{line.raw(Key::src)};  // address:port
  refused.source = source.substr(0, std::min(source.rfind(':'), source.size()));
  return refused;
}

}  // namespace

Situation Advisor::ask(const std::string& agent) {
  if (!client_ && !has_no_daemon_) {
    auto client = connect(options_, Access::look);
    if (client) {
      client_.emplace(std::move(*client));
    } else {
      has_no_daemon_ = true;
    }
  }
  Situation situation = client_ ? ask_situation(*client_, agent) : Situation{};
  situation.is_stile_run = is_of_a_run(agent) && situation.entry.empty();
  return situation;
}

// Without a daemon it is not known.
bool Advisor::may_be_open(const std::string& ask) {
  if (!client_) return true;
  const auto answer = send_request(*client_, {{"action", "asks"}});
  if (!answer) return true;
  const auto& asks = list_of(answer->json, "asks");
  return std::any_of(asks.begin(), asks.end(),
                     [&](const Json& one) { return text_of(one, "id") == ask; });
}

const Situation& Advisor::situation_of(const std::string& agent) {
  if (known_.size() >= most_remembered) known_.clear();
  const auto now = std::chrono::steady_clock::now();
  const auto [found, is_new] = known_.try_emplace(agent);
  if (is_new || now - found->second.asked > situation_lasts) found->second = {now, ask(agent)};
  return found->second.situation;
}

Advice Advisor::after(const audit::Line& line) {
  const bool is_ask = line.raw(Key::event) == "ask";  // the request is held, and not refused yet
  if (!is_ask && line.raw(Key::verdict) != "deny") return {};
  if (line.raw(Key::reason).empty()) return {};
  auto refused = refused_in(line);
  auto kind = std::string{refused.reason} + ' ' + refused.agent;
  kind.append(" ").append(refused.host).append(":").append(std::to_string(refused.port));
  kind.append(" ").append(refused.ask);  // a later ask for the same is another one
  if (told_.size() >= most_remembered) told_.clear();
  if (!told_.insert(std::move(kind)).second) return {};
  const Situation& situation = situation_of(refused.agent);
  const bool is_over = !is_ask && !refused.ask.empty() && !may_be_open(refused.ask);
  if (is_over) refused.ask.clear();  // it takes no answer any more
  auto advice = advice_after(refused, situation);
  if (is_over && advice.note.empty()) {
    advice.note = "the question to the operator is no longer open";
  }
  advice.command = addressed(std::move(advice.command), options_);
  return advice;
}

}  // namespace stile::cli
