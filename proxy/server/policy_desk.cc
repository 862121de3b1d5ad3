// PolicyDesk: audit line, workers, state file, answer.
#include "proxy/server/policy_desk.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "control/budget_ledger.h"
#include "control/grants.h"
#include "control/saved_state.h"
#include "proxy/base/clock.h"
#include "proxy/base/log.h"

namespace stile::server {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds, std::chrono::seconds;

constexpr milliseconds budget_interval{100};

}  // namespace

PolicyDesk::PolicyDesk(asio::io_context& context, control::Reader reader,
                       control::LivePolicy policy, std::optional<control::StateFile> state)
    : context_{context},
      read_{std::move(reader)},
      policy_{std::move(policy)},
      state_{std::move(state)},
      expiry_{context},
      budgets_{context},
      retire_{context} {}

PolicyDesk::~PolicyDesk() = default;

void PolicyDesk::start(audit::Log& log, Daemon daemon) {
  log_ = &log;
  daemon_ = std::move(daemon);
  expire();  // what ran out while nobody was there
  schedule_expiry();
  watch_budgets();
}

void PolicyDesk::stop() {
  expiry_.cancel();
  budgets_.cancel();
  retire_.cancel();
  reader_.stop();
  reader_.join();
  saver_.join();
  static_cast<void>(control::update_reserves(policy_, true));
  if (!state_) return;
  if (auto saved = state_->replace(state_text()); !saved) {
    log::error("the state cannot be saved: " + saved.error().message);
  }
}

std::string PolicyDesk::state_text() const {
  auto state = policy_.save();
  const auto head = log_->head();
  state.audit_seq = head.seq;
  state.audit_hash = head.hash;
  return control::state_text(state);
}

bool PolicyDesk::write_line(const ChangeLine& line, bool is_refused) {
  audit::Record record;
  record.event = line.event;
  record.time_us = unix_micros();
  record.agent = line.agent;
  record.policy = policy_.snapshot()->generation();
  record.actor = line.actor;
  record.detail = line.detail;
  if (is_refused) record.verdict = acl::Verdict::deny;
  audit::Batch batch = log_->new_batch();
  batch.add(record);
  if (log_->write(batch) == 1) return true;
  // A `grant` line that cannot be written is lost, a `policy` line waits. What takes something away
  // is done all the same, so its line waits.
  if (line.only_narrows && record.event == audit::Event::grant) {
    record.event = audit::Event::policy;
    batch.add(record);
    static_cast<void>(log_->write(batch));
  }
  return line.only_narrows;
}

void PolicyDesk::commit(const control::Edit& edit, ChangeLine line, Done done) {
  auto undo = policy_.apply(edit);
  if (!undo) return done(undo.error());
  const auto& snapshot = policy_.publish();
  if (!write_line(line)) {
    static_cast<void>(policy_.apply(*undo));
    policy_.publish();
    if (line.event == audit::Event::policy) {  // its line waits and will be there
      line.detail += ": not done, audit-unavailable";
      static_cast<void>(write_line(line, true));
    }
    return done(control::Failure{control::ErrorCode::internal,
                                 "audit-unavailable: the change cannot be logged, so it was not "
                                 "made: " +
                                     log_->problem()});
  }
  daemon_.publish(snapshot);
  pending_.push_back({std::move(*undo), std::move(line), std::move(done)});
  schedule_expiry();
  save();
}

void PolicyDesk::reset_budget(const std::string& agent, ChangeLine line, Done done) {
  auto& running = policy_.agents().at(agent);
  if (!write_line(line)) {
    return done(
        control::Failure{control::ErrorCode::internal, "audit-unavailable: " + log_->problem()});
  }
  const auto fill = [](const std::optional<std::uint64_t>& total, acl::Allowance& left) {
    if (total) left.set(static_cast<std::int64_t>(*total));
  };
  fill(running.policy->bytes_up, running.account->bytes_up);
  fill(running.policy->bytes_down, running.account->bytes_down);
  running.reserved_up = running.reserved_down = 0;
  pending_.push_back({{}, std::move(line), std::move(done)});
  save();
}

// One write for everything that was changed while the last one was under way.
void PolicyDesk::save() {
  must_save_ = true;
  if (is_saving_) return;
  is_saving_ = true;
  must_save_ = false;
  auto batch = std::make_shared<std::vector<Pending>>(std::exchange(pending_, {}));
  asio::post(saver_, [this, batch, text = state_ ? state_text() : std::string{}] {
    const Result<void> result = state_ ? state_->replace(text) : Result<void>{};
    asio::post(context_, [this, batch, result] { on_saved(result, std::move(*batch)); });
  });
}

void PolicyDesk::on_saved(const Result<void>& result, std::vector<Pending> batch) {
  is_saving_ = false;
  if (result) {
    for (auto& change : batch) change.done(boost::system::in_place_value);
  } else {
    log::error("the state cannot be saved: " + result.error().message);
    std::move(pending_.begin(), pending_.end(), std::back_inserter(batch));
    pending_.clear();
    undo(std::move(batch), result.error().message);
  }
  if (must_save_ && (result || !pending_.empty())) save();
}

// Newest first. The disk has the state before all of them.
void PolicyDesk::undo(std::vector<Pending> changes, const std::string& why) {
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    static_cast<void>(policy_.apply(change->undo));
    change->line.detail += ": undone, the state could not be saved";
    change->line.event = audit::Event::policy;
    static_cast<void>(write_line(change->line, true));
  }
  daemon_.publish(policy_.publish());
  for (auto& change : changes) {
    change.done(control::Failure{control::ErrorCode::internal,
                                 "the change cannot be saved, so it was undone: " + why});
  }
}

// Time alone can turn a verdict; what is open then is closed without a reload.
void PolicyDesk::schedule_expiry() {
  const auto now = unix_micros();
  const auto next = policy_.next_expiry(now);
  if (!next) {
    expiry_.cancel();
    return;
  }
  // The wall clock may be set: look again at least once a minute.
  const auto wait = std::chrono::microseconds{*next - now + 1000};
  expiry_.expires_after(std::clamp<std::chrono::microseconds>(wait, milliseconds{1}, seconds{60}));
  expiry_.async_wait([this](const boost::system::error_code& ec) {
    if (ec) return;
    daemon_.judge_by_time();
    expire();
    schedule_expiry();
  });
}

// Grants that ran out are gone for good: no clock that is set back brings them again.
void PolicyDesk::expire() {
  control::Edit edit;
  std::vector<ChangeLine> lines;
  const auto now = unix_micros();
  for (const auto& [id, overlay] : policy_.overlays()) {
    std::vector<std::string> ended;
    auto next = control::without_expired(*overlay, now, ended);
    if (ended.empty()) continue;
    edit.agents[id] = std::make_shared<const control::AgentOverlay>(std::move(next));
    for (const auto& grant : ended) {
      lines.push_back({audit::Event::grant, id, "stiled", "grant " + grant + " ran out", true});
    }
  }
  if (edit.agents.empty() || !policy_.apply(edit)) return;
  daemon_.publish(policy_.publish());
  for (const auto& line : lines) static_cast<void>(write_line(line));
  save();
}

void PolicyDesk::watch_budgets() {
  if (control::update_reserves(policy_, false)) save();
  budgets_.expires_after(budget_interval);
  budgets_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) watch_budgets();
  });
}

}  // namespace stile::server
