// AskBook: the questions of all agents that wait for a person.
#include "control/ask_book.h"

#include <algorithm>
#include <utility>

namespace stile::control {
namespace {

constexpr UnixMicros micros(std::chrono::seconds time) {
  return std::chrono::microseconds{time}.count();
}

bool is_about_the_same(const Ask& a, const Ask& b) {
  if (a.host != b.host || a.port != b.port || a.scheme != b.scheme) return false;
  if (a.is_for_one_request() != b.is_for_one_request()) return false;
  return !a.is_for_one_request() || (a.method == b.method && a.path == b.path);
}

std::size_t count_open(const std::vector<Ask>& asks) {
  return static_cast<std::size_t>(std::count_if(
      asks.begin(), asks.end(), [](const Ask& ask) { return ask.state == Ask::State::open; }));
}

bool has_place(const std::vector<Ask>& asks, bool is_by_another) {
  const auto taken = std::count_if(asks.begin(), asks.end(), [&](const Ask& ask) {
    return ask.state == Ask::State::open && ask.asked_by.empty() != is_by_another;
  });
  return static_cast<std::size_t>(taken) <
         (is_by_another ? AskBook::max_open_for_agent : AskBook::max_open_per_agent);
}

bool may_hold(const std::vector<Ask>& asks) {
  std::uint32_t held = 0;
  for (const Ask& ask : asks) held += ask.held;
  return held < AskBook::max_held_per_agent;
}

void sort_by_age(std::vector<Ask>& asks) {
  std::stable_sort(asks.begin(), asks.end(),
                   [](const Ask& a, const Ask& b) { return a.first_seen < b.first_seen; });
}

}  // namespace

bool Ask::is_for_one_request() const noexcept {
  return reason == acl::Reason::method_not_allowed || reason == acl::Reason::path_not_allowed;
}

std::string_view text(Ask::State state) noexcept {
  switch (state) {
    case Ask::State::open:
      return "open";
    case Ask::State::allowed:
      return "allowed";
    case Ask::State::refused:
      return "refused";
    case Ask::State::expired:
      break;
  }
  return "expired";
}

std::optional<Ask::State> ask_state_named(std::string_view name) noexcept {
  for (const auto state :
       {Ask::State::open, Ask::State::allowed, Ask::State::refused, Ask::State::expired}) {
    if (text(state) == name) return state;
  }
  return std::nullopt;
}

AskBook::Entry AskBook::enter(const Ask& question, const Life& life, bool wants_hold,
                              UnixMicros now, const std::function<std::string()>& make_id) {
  // A path that is too long to be shown whole could not be approved as it is.
  if (question.is_for_one_request() &&
      (question.path.size() > max_path_bytes || question.method.size() > max_method_bytes)) {
    return {};
  }
  AgentAsks& agent = agents_[question.agent];
  if (agent.life != life) agent = {life, {}};
  auto& asks = agent.asks;
  const auto known = std::find_if(asks.begin(), asks.end(), [&](const Ask& ask) {
    const bool counts = ask.state == Ask::State::open || ask.state == Ask::State::refused;
    return counts && now < ask.expires && is_about_the_same(ask, question);
  });
  const bool is_new = known == asks.end();
  if (is_new && !has_place(asks, !question.asked_by.empty())) return {};
  if (is_new) {
    Ask& ask = asks.emplace_back(question);
    ask.id = make_id();
    ask.method.resize(std::min(ask.method.size(), max_method_bytes));
    ask.path.resize(std::min(ask.path.size(), max_path_bytes));
    ask.agent_reason.resize(std::min(ask.agent_reason.size(), max_reason_bytes));
    ask.first_seen = now;
    ask.expires = now + micros(open_for);
    ask.state = Ask::State::open;
    ask.count = ask.held = 0;
  }
  Ask& ask = is_new ? asks.back() : *known;
  ++ask.count;
  if (ask.agent_reason.empty() && question.asked_by.empty()) {  // only the agent gives its reason
    ask.agent_reason = question.agent_reason.substr(0, max_reason_bytes);
  }
  const bool is_held = wants_hold && ask.state == Ask::State::open && may_hold(asks);
  if (is_held) ++ask.held;
  return {&ask, is_new, is_held};
}

const AskBook::AgentAsks* AskBook::of(std::string_view agent, const Life& life) const {
  const auto found = agents_.find(agent);
  return found == agents_.end() || found->second.life != life ? nullptr : &found->second;
}

const Ask* AskBook::find(std::string_view agent, const Life& life, std::string_view id) const {
  const AgentAsks* own = of(agent, life);
  if (own == nullptr) return nullptr;
  const auto found = std::find_if(own->asks.begin(), own->asks.end(),
                                  [&](const Ask& ask) { return ask.id == id; });
  return found == own->asks.end() ? nullptr : &*found;
}

const Ask* AskBook::find(std::string_view id) const {
  for (const auto& [name, agent] : agents_) {
    if (const Ask* found = find(name, agent.life, id)) return found;
  }
  return nullptr;
}

Ask* AskBook::find_open(std::string_view id) {
  for (auto& [name, agent] : agents_) {
    for (Ask& ask : agent.asks) {
      if (ask.id == id && ask.state == Ask::State::open) return &ask;
    }
  }
  return nullptr;
}

bool AskBook::hold(std::string_view agent, const Life& life, std::string_view id) {
  const AgentAsks* own = of(agent, life);
  Ask* ask = find_open(id);
  if (own == nullptr || ask == nullptr || ask->agent != agent || !may_hold(own->asks)) return false;
  ++ask->held;
  return true;
}

void AskBook::release(std::string_view agent, std::string_view id) noexcept {
  const auto found = agents_.find(agent);
  if (found == agents_.end()) return;
  for (Ask& ask : found->second.asks) {
    if (ask.id == id && ask.held > 0) --ask.held;
  }
}

bool AskBook::answer(std::string_view id, Ask::State answer, UnixMicros until) {
  Ask* ask = find_open(id);
  if (ask == nullptr) return false;
  ask->state = answer;
  ask->expires = until;
  auto& asks = agents_.find(ask->agent)->second.asks;
  if (asks.size() - count_open(asks) > max_answered_per_agent) {
    asks.erase(std::find_if(asks.begin(), asks.end(),
                            [](const Ask& old) { return old.state != Ask::State::open; }));
  }
  return true;
}

std::vector<Ask> AskBook::expire(UnixMicros now) {
  std::vector<Ask> ended;
  for (auto agent = agents_.begin(); agent != agents_.end();) {
    auto& asks = agent->second.asks;
    for (Ask& ask : asks) {
      if (ask.state != Ask::State::open || now < ask.expires) continue;
      ask.state = Ask::State::expired;
      ask.expires = now + micros(remembered_for);
      ended.push_back(ask);
    }
    std::erase_if(asks, [&](const Ask& ask) { return now >= ask.expires && ask.held == 0; });
    agent = asks.empty() ? agents_.erase(agent) : std::next(agent);
  }
  return ended;
}

std::vector<Ask> AskBook::keep_only(
    const std::function<bool(const std::string& agent, const Life& life)>& is_kept) {
  std::vector<Ask> ended;
  for (auto agent = agents_.begin(); agent != agents_.end();) {
    if (is_kept(agent->first, agent->second.life)) {
      ++agent;
      continue;
    }
    for (Ask& ask : agent->second.asks) {
      if (ask.state == Ask::State::open) ended.push_back(std::move(ask));
    }
    agent = agents_.erase(agent);
  }
  return ended;
}

std::vector<Ask> AskBook::open() const {
  std::vector<Ask> asks = all();
  std::erase_if(asks, [](const Ask& ask) { return ask.state != Ask::State::open; });
  return asks;
}

std::vector<Ask> AskBook::own(std::string_view agent, const Life& life) const {
  const AgentAsks* found = of(agent, life);
  if (found == nullptr) return {};
  std::vector<Ask> asks = found->asks;
  sort_by_age(asks);
  return asks;
}

std::vector<Ask> AskBook::all() const {
  std::vector<Ask> asks;
  for (const auto& [name, agent] : agents_) {
    asks.insert(asks.end(), agent.asks.begin(), agent.asks.end());
  }
  sort_by_age(asks);
  return asks;
}

void AskBook::restore(Ask ask, const Life& life) {
  AgentAsks& agent = agents_[ask.agent];
  agent.life = life;
  ask.held = 0;
  agent.asks.push_back(std::move(ask));
}

std::map<std::string, std::size_t> AskBook::open_per_agent() const {
  std::map<std::string, std::size_t> counts;
  for (const auto& [name, agent] : agents_) counts[name] = count_open(agent.asks);
  return counts;
}

std::optional<UnixMicros> AskBook::next_expiry() const {
  std::optional<UnixMicros> first;
  for (const auto& [name, agent] : agents_) {
    for (const Ask& ask : agent.asks) {
      if (!first || ask.expires < *first) first = ask.expires;
    }
  }
  return first;
}

}  // namespace stile::control
