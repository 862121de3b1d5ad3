// AskService: the asks of all agents, between the workers that hold requests and the people who
// answer.
#include "proxy/commands/ask_service.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "acl/decide.h"
#include "acl/remedy.h"
#include "base/random.h"
#include "proxy/base/clock.h"
#include "proxy/commands/ask_text.h"

namespace stile::commands {
namespace {

using control::Ask, control::AskBook;
using session::AskTicket;

// How often what ran out is ended and the followers are told of new counts.
constexpr std::chrono::milliseconds tick_time{250};
constexpr std::chrono::seconds retry_while_open{30};

AskTicket::State state_of(Ask::State state) noexcept {
  switch (state) {
    case Ask::State::open:
      return AskTicket::State::open;
    case Ask::State::allowed:
      return AskTicket::State::allowed;
    case Ask::State::refused:
      return AskTicket::State::refused;
    case Ask::State::expired:
      break;
  }
  return AskTicket::State::expired;
}

AskTicket ticket_of(const Ask& ask, bool is_held, UnixMicros now) {
  AskTicket ticket{state_of(ask.state), ask.id, is_held, retry_while_open};
  if (ask.state == Ask::State::refused) {
    ticket.retry_after =
        std::chrono::seconds{std::max<std::int64_t>(1, (ask.expires - now + 999'999) / 1'000'000)};
  }
  return ticket;
}

Ask question_of(const session::AskQuestion& question) {
  Ask ask;
  ask.agent = question.agent.id;
  ask.reason = question.reason;
  ask.scheme = std::string{question.scheme};
  ask.host = std::string{question.host};
  ask.port = question.port;
  ask.method = std::string{question.method};
  ask.path = std::string{question.path};
  ask.looks_like = imitated_by(question.agent, ask.host);
  return ask;
}

audit::Record record_of(audit::Event event, const Ask& ask) {
  audit::Record record;
  record.event = event;
  record.time_us = unix_micros();
  record.agent = ask.agent;
  record.method = ask.method;
  record.scheme = ask.scheme;
  record.host = ask.host;
  record.port = ask.port;
  record.path = ask.path;
  record.reason = ask.reason;
  record.request = ask.id;
  return record;
}

}  // namespace

std::string imitated_by(const acl::AgentPolicy& agent, std::string_view host) {
  return acl::remedy_for({acl::Reason::host_not_allowed, acl::Scheme::tunnel, host, 443}, &agent)
      .imitated;
}

acl::Query query_of(const Ask& ask, const acl::AgentPolicy& agent, const std::string& port,
                    acl::RequestFacts& facts, UnixMicros now) {
  acl::Query query;
  query.agent = &agent;
  query.scheme = ask.scheme == "http" ? acl::Scheme::http : acl::Scheme::tunnel;
  query.authority = {ask.host, port, true};
  query.now = now;
  query.method = ask.method;
  query.path = ask.path;
  if (ask.is_for_one_request()) {
    facts.names_tunnel = true;
    facts.method = ask.method;
    facts.path = ask.path;
    facts.target = ask.path;
    query.inside = &facts;
  }
  return query;
}

AskBook::Entry AskService::enter(const Ask& question, const acl::AgentPolicy& agent,
                                 bool wants_hold, AskedBy by) {
  const auto* current = policy_ ? policy_->by_id(agent.id) : nullptr;
  if (policy_ && (current == nullptr || (*current)->account != agent.account)) return {};
  const auto entry =
      book_.enter(question, agent.account, wants_hold, unix_micros(), [] { return random_hex(6); });
  if (entry.ask == nullptr) {
    ++totals_[agent.id].over_limit;
    return entry;
  }
  touched_.insert(entry.ask->id);
  if (entry.is_new) {
    boost::asio::post(context_, [this, ask = *entry.ask, by = std::move(by)] { entered(ask, by); });
  }
  return entry;
}

AskTicket AskService::ask(const session::AskQuestion& question) {
  const Ask asked = question_of(question);  // not under the lock: it compares names
  const std::lock_guard lock{mutex_};
  const auto entry =
      enter(asked, question.agent, true, {std::string{question.source}, question.conn});
  return entry.ask == nullptr ? AskTicket{} : ticket_of(*entry.ask, entry.is_held, unix_micros());
}

AskTicket AskService::look(const acl::AgentPolicy& agent, const std::string& id) {
  const std::lock_guard lock{mutex_};
  const Ask* ask = book_.find(agent.id, agent.account, id);
  if (ask == nullptr) return {};
  return ticket_of(*ask, true, unix_micros());
}

bool AskService::hold(const acl::AgentPolicy& agent, const std::string& id) {
  const std::lock_guard lock{mutex_};
  if (!book_.hold(agent.id, agent.account, id)) return false;
  touched_.insert(id);
  return true;
}

void AskService::release(const std::string& agent, const std::string& id) noexcept {
  const std::lock_guard lock{mutex_};
  book_.release(agent, id);
  try {
    touched_.insert(id);
  } catch (const std::exception&) {
    // No memory: the followers see the count with the next change.
  }
}

void AskService::restore(const std::vector<control::SavedAsk>& saved,
                         const control::LivePolicy& policy) {
  const std::lock_guard lock{mutex_};
  for (const auto& one : saved) {
    const auto* running = policy.find(one.ask.agent);
    if (running == nullptr || !running->entry->identity.is_same_agent(one.identity)) continue;
    book_.restore(one.ask, running->account);
  }
}

void AskService::start(audit::Log& log, WorkerPorts workers, std::function<void()> save) {
  log_ = &log;
  workers_ = std::move(workers);
  save_ = std::move(save);
  tick();
}

void AskService::write_line(const audit::Record& record) {
  if (log_ == nullptr) return;
  audit::Batch batch = log_->new_batch();
  batch.add(record);
  static_cast<void>(log_->write(batch));
}

void AskService::look_again(const std::string& id) {
  for (WorkerPort* worker : workers_) {
    worker->post([id](session::Context& context) { session::look_again(context.asking, id); });
  }
}

// A new ask, on the main thread.
void AskService::entered(const Ask& ask, const AskedBy& by) {
  audit::Record record = record_of(audit::Event::ask, ask);
  record.src = by.source;
  record.conn = by.conn;
  record.actor = by.actor;
  record.detail = ask.agent_reason;
  write_line(record);
  tell(ask_event(ask, unix_micros()));
  save_();
  if (!is_ticking_) tick();
}

std::optional<Ask> AskService::ask_for(const Ask& question, const acl::AgentPolicy& agent,
                                       std::string_view actor) {
  const std::lock_guard lock{mutex_};
  Ask by_another = question;
  by_another.asked_by = actor;
  const auto entry = enter(by_another, agent, false, {"", 0, std::string{actor}});
  return entry.ask == nullptr ? std::nullopt : std::optional{*entry.ask};
}

// It ended without a person.
void AskService::ended(const Ask& ask, Ask::State state, std::string_view why) {
  audit::Record record = record_of(audit::Event::answer, ask);
  record.verdict = state == Ask::State::allowed ? acl::Verdict::allow : acl::Verdict::deny;
  record.actor = "stiled";
  record.detail = why;
  write_line(record);
  Ask now = ask;
  now.state = state;
  tell(answer_event(now));
  look_again(ask.id);
}

void AskService::tick() {
  const UnixMicros now = unix_micros();
  std::vector<Ask> expired, changed;
  bool is_empty = false;
  {
    const std::lock_guard lock{mutex_};
    expired = book_.expire(now);
    for (const Ask& ask : expired) ++totals_[ask.agent].expired;
    for (const auto& id : std::exchange(touched_, {})) {
      if (followers_.empty()) break;
      const Ask* ask = book_.find(id);
      if (ask != nullptr && ask->state == Ask::State::open) changed.push_back(*ask);
    }
    is_empty = !book_.next_expiry();
  }
  for (const Ask& ask : changed) tell(ask_event(ask, now));
  for (const Ask& ask : expired) ended(ask, Ask::State::expired, "not answered in time");
  if (!expired.empty()) save_();
  is_ticking_ = !is_empty;
  if (is_empty) return;
  tick_.expires_after(tick_time);
  tick_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) tick();
  });
}

void AskService::set_policy(std::shared_ptr<const acl::Snapshot> snapshot) {
  const std::lock_guard lock{mutex_};
  policy_ = std::move(snapshot);
}

void AskService::policy_changed(const acl::Snapshot& snapshot) {
  const UnixMicros now = unix_micros();
  std::vector<Ask> gone, allowed, closed;
  {
    const std::lock_guard lock{mutex_};
    gone = book_.keep_only([&](const std::string& id, const AskBook::Life& life) {
      const auto* agent = snapshot.by_id(id);
      return agent != nullptr && (*agent)->account == life;
    });
    std::erase_if(totals_, [&](const auto& one) { return snapshot.by_id(one.first) == nullptr; });
    for (const Ask& ask : book_.open()) {
      if (being_answered_.count(ask.id) != 0) continue;
      const auto& agent = **snapshot.by_id(ask.agent);
      acl::RequestFacts facts;
      const std::string port = std::to_string(ask.port);
      const acl::Decision decision = acl::decide(query_of(ask, agent, port, facts, now));
      // While an agent is offline or has spent its budget, its asks stay.
      const bool lacks_a_rule = decision.reason == acl::Reason::offline ||
                                decision.reason == acl::Reason::agent_expired || decision.may_ask;
      if (lacks_a_rule && agent.asks) continue;
      const auto state = decision.passes() ? Ask::State::allowed : Ask::State::expired;
      book_.answer(ask.id, state, now + std::chrono::microseconds{AskBook::remembered_for}.count());
      ++(decision.passes() ? totals_[ask.agent].allowed : totals_[ask.agent].expired);
      (decision.passes() ? allowed : closed).push_back(ask);
    }
  }
  for (const Ask& ask : gone) ended(ask, Ask::State::expired, "the agent is gone");
  for (const Ask& ask : allowed) ended(ask, Ask::State::allowed, "a rule allows it now");
  for (const Ask& ask : closed) ended(ask, Ask::State::expired, "the policy has changed");
}

std::vector<control::SavedAsk> AskService::saved(const control::LivePolicy& policy) const {
  const std::lock_guard lock{mutex_};
  std::vector<control::SavedAsk> all;
  for (Ask& ask : book_.all()) {
    const auto* running = policy.find(ask.agent);
    if (running != nullptr) all.push_back({std::move(ask), running->entry->identity});
  }
  return all;
}

std::vector<Ask> AskService::open() const {
  const std::lock_guard lock{mutex_};
  return book_.open();
}

std::optional<Ask> AskService::find(const std::string& id) const {
  const std::lock_guard lock{mutex_};
  const Ask* ask = book_.find(id);
  return ask == nullptr ? std::nullopt : std::optional{*ask};
}

bool AskService::begin_answer(const std::string& id) {
  const auto ask = find(id);
  return ask && ask->state == Ask::State::open && being_answered_.insert(id).second;
}

void AskService::end_answer(const std::string& id, std::optional<Ask::State> answer,
                            UnixMicros until) {
  being_answered_.erase(id);
  if (!answer) return;
  const auto ask = find(id);
  if (!ask) return;
  {
    const std::lock_guard lock{mutex_};
    if (!book_.answer(id, *answer, until)) return;
    Totals& totals = totals_[ask->agent];
    ++(*answer == Ask::State::allowed ? totals.allowed : totals.refused);
    const double seconds = static_cast<double>(unix_micros() - ask->first_seen) / 1e6;
    const auto bucket =
        std::lower_bound(AnswerTimes::bounds.begin(), AnswerTimes::bounds.end(), seconds);
    ++times_.counts[static_cast<std::size_t>(bucket - AnswerTimes::bounds.begin())];
    times_.sum += seconds;
  }
  Ask now = *ask;
  now.state = *answer;
  tell(answer_event(now));
  look_again(id);
  save_();
}

void AskService::follow(const control::ConnectionPtr& client) { followers_[client.get()] = client; }

// Later, since writing to a client may close it, and the caller may be in the middle of a change. A
// client that does not read is closed: it sees the whole list when it connects again.
void AskService::tell(std::string line) {
  if (followers_.empty()) return;
  boost::asio::post(context_, [this, line = std::move(line)] {
    std::vector<control::ConnectionPtr> clients;
    for (const auto& [key, client] : followers_) clients.push_back(client);
    for (const auto& client : clients) {
      if (client->is_open() && !client->push(line)) client->close();
      client->send_pushed();
    }
  });
}

std::map<std::string, std::size_t> AskService::open_per_agent() const {
  const std::lock_guard lock{mutex_};
  return book_.open_per_agent();
}

std::map<std::string, AskService::Totals> AskService::totals() const {
  const std::lock_guard lock{mutex_};
  return totals_;
}

AskService::AnswerTimes AskService::answer_times() const {
  const std::lock_guard lock{mutex_};
  return times_;
}

}  // namespace stile::commands
