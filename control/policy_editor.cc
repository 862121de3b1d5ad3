// PolicyEditor: audit line, workers, state file, answer.
#include "control/policy_editor.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <set>
#include <utility>

#include "control/grants.h"
#include "control/saved_state.h"
#include "proxy/base/clock.h"
#include "proxy/base/log.h"

namespace stile::control {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds, std::chrono::seconds;

constexpr milliseconds refill_interval{5};
constexpr seconds retry_interval{1};

// The kept changes of a batch: an older change that one of them builds on cannot be undone.
class Kept {
 public:
  void add(const Edit& edit) {
    mode_ |= edit.mode.has_value();
    fleet_ |= edit.fleet_offline.has_value();
    for (const auto& [id, overlay] : edit.agents) ids_.insert(id);
    for (const auto& [id, card] : edit.cards) ids_.insert(id);
    for (const auto& [id, budgets] : edit.budgets) ids_.insert(id);
  }
  [[nodiscard]] bool builds_on(const Edit& edit) const {
    const auto is_kept = [this](const auto& entry) { return ids_.count(entry.first) != 0; };
    return (mode_ && edit.mode) || (fleet_ && edit.fleet_offline) ||
           std::any_of(edit.agents.begin(), edit.agents.end(), is_kept) ||
           std::any_of(edit.cards.begin(), edit.cards.end(), is_kept) ||
           std::any_of(edit.budgets.begin(), edit.budgets.end(), is_kept);
  }

 private:
  bool mode_ = false, fleet_ = false;
  std::set<std::string> ids_;
};

}  // namespace

PolicyEditor::PolicyEditor(asio::io_context& context, PolicyReader reader, LivePolicy policy,
                           std::optional<StateFile> state, config::FleetState fleet)
    : context_{context},
      read_{std::move(reader)},
      policy_{std::move(policy)},
      fleet_{std::move(fleet)},
      started_{policy_.base().loaded},
      state_{std::move(state)},
      refill_signal_{context},
      expiry_{context},
      refill_pause_{context},
      retry_{context},
      retire_{context},
      quiet_{context} {
  watch_budgets(policy_, refill_signal_);
}

PolicyEditor::~PolicyEditor() = default;

void PolicyEditor::start(audit::Log& log, Daemon daemon) {
  log_ = &log;
  daemon_ = std::move(daemon);
  judged_at_ = unix_micros();
  expire();  // grants that expired while the daemon was down
  schedule_expiry();
  serve_refills();
}

void PolicyEditor::stop() {
  expiry_.cancel();
  refill_signal_.stop();
  refill_pause_.cancel();
  retry_.cancel();
  retire_.cancel();
  reader_.stop();
  reader_.join();
  saver_.join();
  if (refill_elsewhere_) return;  // another process has the state
  reclaim_reserves(policy_);
  if (!state_) return;
  if (auto saved = state_->replace(state_text()); !saved) {
    log::error("the state cannot be saved: " + saved.error().message);
  }
}

std::string PolicyEditor::state_text() const {
  auto state = policy_.save();
  const auto head = log_->head();
  state.audit_seq = head.seq;
  state.audit_hash = head.hash;
  if (daemon_.asks) state.asks = daemon_.asks();
  return control::state_text(state);
}

bool PolicyEditor::write_line(const ChangeLine& line, bool is_refused) {
  audit::Record record;
  record.event = line.event;
  record.time_us = unix_micros();
  record.agent = line.agent;
  record.policy = policy_.snapshot()->generation();
  record.actor = line.actor;
  record.detail = line.detail;
  record.request = line.request;
  record.host = line.host;
  record.port = line.port;
  record.verdict = line.verdict;
  if (is_refused) record.verdict = acl::Verdict::deny;
  audit::Batch batch = log_->new_batch();
  batch.add(record);
  if (log_->write(batch) == 1) return true;
  // A `grant` line that cannot be written is lost; a `policy` line is written later. A change that
  // removes access is made anyway, so its line must be written later.
  if (line.only_narrows &&
      (record.event == audit::Event::grant || record.event == audit::Event::answer)) {
    record.event = audit::Event::policy;
    batch.add(record);
    static_cast<void>(log_->write(batch));
  }
  return line.only_narrows;
}

void PolicyEditor::commit(const Edit& edit, ChangeLine line, Done done) {
  auto undo = policy_.apply(edit);
  if (!undo) return done(undo.error());
  const auto& snapshot = new_snapshot();
  if (!write_line(line)) {
    static_cast<void>(policy_.apply(*undo));
    new_snapshot();
    if (line.event == audit::Event::policy) {  // its line is written later
      line.detail += ": not done, audit-unavailable";
      static_cast<void>(write_line(line, true));
    }
    return done(Failure{ErrorCode::internal,
                        "audit-unavailable: the change cannot be logged, so it was not "
                        "made: " +
                            log_->problem()});
  }
  daemon_.publish(snapshot);
  pending_.push_back({std::move(*undo), std::move(line), std::move(done)});
  schedule_expiry();
  save();
}

// One write for all changes made during the last write.
void PolicyEditor::save() {
  must_save_ = true;
  if (is_saving_ || is_frozen_) return;
  is_saving_ = true;
  must_save_ = false;
  auto saving =
      std::make_shared<Saving>(Saving{std::exchange(pending_, {}), book_reserves(policy_)});
  asio::post(saver_, [this, saving, text = state_ ? state_text() : std::string{}] {
    const Result<void> result = state_ ? state_->replace(text) : Result<void>{};
    asio::post(context_, [this, saving, result] { on_saved(result, std::move(*saving)); });
  });
}

void PolicyEditor::on_saved(const Result<void>& result, Saving saving) {
  is_saving_ = false;
  saving.booking.settle(result.has_value());
  if (result) {
    if (std::exchange(cannot_save_, false)) log::info("the state can be saved again");
    for (auto& change : saving.changes) change.done(boost::system::in_place_value);
    daemon_.refilled();
  } else {
    on_save_failed(result.error().message);
    std::move(pending_.begin(), pending_.end(), std::back_inserter(saving.changes));
    pending_.clear();
    undo(std::move(saving.changes), result.error().message);
  }
  if (must_save_ && (result || !pending_.empty())) save();
}

// No more of any budget is handed out until the disk works again.
void PolicyEditor::on_save_failed(const std::string& why) {
  ++counts_.save_failures;
  if (!std::exchange(cannot_save_, true)) {
    log::error("the state cannot be saved: " + why +
               "; until it can, only what narrows is changed and no budget is drawn on");
  }
  retry_.expires_after(retry_interval);
  retry_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) save();
  });
}

// Newest first. The disk has the state before all of them. Changes that only narrow stay: an
// operator can end egress while the disk is full.
void PolicyEditor::undo(std::vector<Pending> changes, const std::string& why) {
  Kept kept;
  std::vector<std::string> answers;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    if (change->line.only_narrows || kept.builds_on(change->undo)) {
      kept.add(change->undo);
      answers.push_back("the change is in force but not saved, and a restart would undo it: " +
                        why);
      continue;
    }
    static_cast<void>(policy_.apply(change->undo));
    change->line.detail += ": undone, the state could not be saved";
    change->line.event = audit::Event::policy;
    static_cast<void>(write_line(change->line, true));
    answers.push_back("the change cannot be saved, so it was undone: " + why);
  }
  daemon_.publish(new_snapshot());
  for (auto& change : changes) {
    change.done(Failure{ErrorCode::internal, std::move(answers.back())});
    answers.pop_back();
  }
}

// Time alone can change a verdict; affected connections are then closed without a reload.
void PolicyEditor::schedule_expiry() {
  const auto now = unix_micros();
  // Includes what expired since the last check: a change at that moment must not hide it.
  const auto next = policy_.next_expiry(std::min(judged_at_, now));
  if (!next) {
    expiry_.cancel();
    return;
  }
  // The wall clock may be set: check again at least once a second.
  const auto wait = std::chrono::microseconds{*next - now + 1000};
  expiry_.expires_after(std::clamp<std::chrono::microseconds>(wait, milliseconds{1}, seconds{1}));
  expiry_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) look_at_the_clock();
  });
}

void PolicyEditor::look_at_the_clock() {
  const auto now = unix_micros();
  const auto first = policy_.next_expiry(std::min(judged_at_, now));
  judged_at_ = now;
  if (first && *first <= now) {
    daemon_.judge_by_time();
    expire();
  }
  schedule_expiry();
}

// Expired grants are gone for good: setting the clock back does not restore them.
void PolicyEditor::expire() {
  if (is_frozen_) return;
  Edit edit;
  std::vector<ChangeLine> lines;
  const auto now = unix_micros();
  for (const auto& [id, overlay] : policy_.overlays()) {
    std::vector<std::string> ended;
    auto next = without_expired(*overlay, now, ended);
    if (ended.empty()) continue;
    edit.agents[id] = std::make_shared<const AgentOverlay>(std::move(next));
    for (const auto& grant : ended) {
      lines.push_back({audit::Event::grant, id, "stiled", "grant " + grant + " ran out", true});
    }
  }
  if (edit.agents.empty() || !policy_.apply(edit)) return;
  daemon_.publish(new_snapshot());
  for (const auto& line : lines) static_cast<void>(write_line(line));
  save();
}

// A budget runs low: put more of it on record. The pause bounds the cost under every load.
void PolicyEditor::serve_refills() {
  refill_signal_.wait([this] {
    if (refill_elsewhere_) {
      refill_elsewhere_();
    } else if (is_reserve_asked_for(policy_)) {
      save();
    } else {
      daemon_.refilled();  // the missing part was returned in the meantime
    }
    refill_pause_.expires_after(refill_interval);
    refill_pause_.async_wait([this](const boost::system::error_code& ec) {
      if (!ec) serve_refills();
    });
  });
}

// The workers may use new budgets in it as soon as they see it.
const std::shared_ptr<const acl::Snapshot>& PolicyEditor::new_snapshot() {
  const auto& snapshot = policy_.publish();
  watch_budgets(policy_, refill_signal_);
  return snapshot;
}

}  // namespace stile::control
