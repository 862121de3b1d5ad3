// PolicyEditor, the fleet: its switch works at once, its policy is read like a reload.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/joined.h"
#include "control/policy_editor.h"
#include "proxy/base/log.h"

namespace stile::control {
namespace {

namespace asio = boost::asio;

std::string policies_text(const config::FleetLayer& layer) {
  const auto text = joined_texts(layer.policies, [](const config::FleetPolicy& policy) {
    return policy.name + " serial " + std::to_string(policy.serial);
  });
  return text.empty() ? "no policy" : text;
}

}  // namespace

// Offline at once. Online only with the policy that comes with it, see take_fleet: a denial may be
// among it.
void PolicyEditor::set_fleet(config::FleetState next, std::string actor, Done done) {
  if (next.offline) switch_fleet(true, actor);
  fleet_changes_.push_back({std::move(next), std::move(actor), std::move(done)});
  start_reading();
}

void PolicyEditor::switch_fleet(bool offline, const std::string& actor) {
  if (offline == policy_.is_fleet_offline()) return;
  Edit edit;
  edit.fleet_offline = offline;
  const std::string detail = offline ? "fleet: offline" : "fleet: online";
  log::info("the fleet's switch is " + std::string{offline ? "offline" : "online"});
  commit(edit, {audit::Event::policy, "", actor, detail, offline},
         [](const Outcome<void>& outcome) {
           if (!outcome) log::error("the fleet's switch: " + outcome.error().message);
         });
}

// One change at a time, in their order.
void PolicyEditor::read_fleet_policy() {
  auto change = std::make_shared<FleetChange>(std::move(fleet_changes_.front()));
  fleet_changes_.erase(fleet_changes_.begin());
  if (change->next.layer == fleet_.layer) {
    take_fleet(std::move(*change));
    return start_reading();
  }
  is_reading_ = true;
  auto copy = std::make_shared<FilePolicyPtr>(std::make_unique<FilePolicy>(policy_.base()));
  asio::post(reader_, [this, change, copy] {
    auto reading = std::make_shared<Reading>(read_base(std::move(*copy), true, change->next.layer));
    asio::post(context_, [this, change, reading] {
      is_reading_ = false;
      finish_fleet(std::move(*change), std::move(*reading));
      start_reading();
    });
  });
}

void PolicyEditor::finish_fleet(FleetChange change, Reading reading) {
  ChangeLine line;
  line.actor = change.actor;
  line.detail = "fleet: " + policies_text(change.next.layer);
  if (!reading.base) {
    log::errors("the fleet's policy is refused, the policy in force stays:\n" + reading.problems);
    line.detail += ": config-error";
    static_cast<void>(write_line(line, true));
    return change.done(Failure{ErrorCode::config_error, reading.problems, reading.hint});
  }
  for (const auto& card : reading.base->loaded.cards.rejected) {
    log::warnings("refused: " + card.problems.text());
  }
  fleet_.layer = change.next.layer;
  take_base(reading, line);
  log::info("the fleet's policy is in force: " + policies_text(fleet_.layer) + ", generation " +
            std::to_string(policy_.snapshot()->generation()));
  take_fleet(std::move(change));
}

// In force; now on disk.
void PolicyEditor::take_fleet(FleetChange change) {
  // A later change may have switched it off again.
  const bool is_off_later =
      std::any_of(fleet_changes_.begin(), fleet_changes_.end(),
                  [](const FleetChange& later) { return later.next.offline; });
  if (!change.next.offline && !is_off_later) switch_fleet(false, change.actor);
  const bool is_same = change.next == fleet_;
  fleet_ = std::move(change.next);
  if (is_same || !state_) return change.done(boost::system::in_place_value);
  asio::post(saver_, [this, text = config::fleet_text(fleet_), done = std::move(change.done)] {
    const Result<void> result = state_->replace_fleet(text);
    asio::post(context_, [done, result] {
      if (result) return done(boost::system::in_place_value);
      log::error("the fleet's policy cannot be saved: " + result.error().message);
      done(Failure{ErrorCode::internal,
                   "the fleet's policy is in force but not saved: " + result.error().message});
    });
  });
}

}  // namespace stile::control
