// PolicyEditor: makes every change of the policy, one after the other: audit line, workers, state
// file, answer.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/log.h"
#include "audit/record.h"
#include "control/budget_ledger.h"
#include "control/changes.h"
#include "control/live_changes.h"
#include "control/live_policy.h"
#include "control/refill_signal.h"
#include "control/state_file.h"

namespace stile::control {

// The content of a change's audit line.
struct ChangeLine {
  audit::Event event = audit::Event::policy;
  std::string agent, actor, detail;
  // The change only removes access: it is made even if its line must wait for the disk.
  bool only_narrows = false;
  // Of an answer to an ask.
  std::string request = {}, host = {};
  std::uint16_t port = 0;
  std::optional<acl::Verdict> verdict = std::nullopt;
};

struct ReloadResult {
  std::uint64_t generation = 0;
  std::vector<AgentChange> changes;
};

// A config as one text.
struct WrittenConfig {
  std::string file, digest, text;
  std::vector<config::RejectedCard> rejected;
};

class PolicyEditor {
 public:
  // What the editor needs from the rest of the daemon.
  struct Daemon {
    std::function<void(std::shared_ptr<const acl::Snapshot>)> publish;
    std::function<void()> judge_by_time;     // no new snapshot, but agents may have expired
    std::function<void()> settings_changed;  // limits, DNS
    std::function<void()> refilled;          // requests that wait for a budget check again
    std::function<void(const std::string& state)> notify;
    std::function<std::vector<SavedAsk>()> asks = {};  // for the state file
  };
  struct Counts {
    std::uint64_t reloads_ok = 0, reloads_failed = 0;
    std::uint64_t save_failures = 0;
    std::int64_t last_reload_s = 0;
  };
  using Done = std::function<void(const Outcome<void>&)>;
  using ReloadDone = std::function<void(const Outcome<ReloadResult>&)>;
  using ConfigDone = std::function<void(const Outcome<WrittenConfig>&)>;

  // Without a state file no change survives a restart.
  PolicyEditor(boost::asio::io_context& context, PolicyReader reader, LivePolicy policy,
               std::optional<StateFile> state, config::FleetState fleet = {});
  ~PolicyEditor();

  // Call this before any other function.
  void start(audit::Log& log, Daemon daemon);
  // Finishes pending work; then the state has the exact numbers.
  void stop();

  // Another process wants to continue from the state. Finishes what is under way, then changes and
  // saves nothing until thaw(). `done` gets false if that takes too long; then nothing has changed.
  void freeze(std::function<void(bool)> done);
  void thaw();
  // The other process has the state now. From here on this one only draws on what it is given:
  // `refill` is called when budgets run low.
  void leave(std::function<void()> refill);
  // Reads the files once more, so that they also bind what is left in this process. `done` gets
  // false, and nothing has changed, if they cannot be read or are not those of this digest.
  void follow(std::string digest, std::function<void(bool)> done);
  [[nodiscard]] int state_lock() const noexcept { return state_ ? state_->lock() : -1; }

  // `done` is called when the change is in force, logged and on disk, or is none of these. A change
  // that only narrows is always in force: if it cannot be saved, `done` gets an error, and saving
  // is retried.
  void commit(const Edit& edit, ChangeLine line, Done done);
  // Something besides the policy has changed that is kept in the state file.
  void save_soon() { save(); }
  // Takes what the fleet wants. Its switch is in force when this returns; a changed policy is read
  // in the background. `done` is called when all of it is in force and on disk, or refused.
  void set_fleet(config::FleetState next, std::string actor, Done done);
  // The config as it would be with these policies of the fleet, and with what was changed through
  // the control socket; nothing is applied.
  void try_fleet(config::FleetLayer layer, ConfigDone done);
  [[nodiscard]] const config::FleetState& fleet() const noexcept { return fleet_; }
  // Reads the files in the background. Requests during a reading share the next one.
  void reload(std::string actor, ReloadDone done);
  // Returns the config in force, or reads it from its files without applying it.
  void write_config(bool from_disk, ConfigDone done);
  // A directory of cards has changed.
  void read_cards();

  [[nodiscard]] const LivePolicy& policy() const noexcept { return policy_; }
  [[nodiscard]] const config::Settings& settings() const noexcept {
    return policy_.base().loaded.settings;
  }
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  struct Pending {
    Edit undo;
    ChangeLine line;
    Done done;
  };
  // The content of one state that is being saved.
  struct Saving {
    std::vector<Pending> changes;
    Booking booking;
  };
  struct Reload {
    std::string actor;
    ReloadDone done;
  };
  struct Reading {
    FilePolicyPtr base;
    std::string problems, hint;  // hint: what to type next; may be empty
    std::vector<AgentChange> changes;
  };

  // A state of the fleet on its way into force.
  struct FleetChange {
    config::FleetState next;
    std::string actor;
    Done done;
  };

  [[nodiscard]] bool write_line(const ChangeLine& line, bool is_refused = false);
  [[nodiscard]] std::string state_text() const;
  void save();
  void on_saved(const Result<void>& result, Saving saving);
  void on_save_failed(const std::string& why);
  void undo(std::vector<Pending> changes, const std::string& why);
  void start_reading();
  void write_config_of(std::shared_ptr<FilePolicyPtr> copy, config::FleetLayer layer,
                       std::optional<LiveChanges> live, ConfigDone done);
  [[nodiscard]] std::string problems_of(const config::Settings& settings) const;
  void finish_reload(const std::vector<Reload>& asked, Reading reading);
  void finish_cards(Reading reading);
  void read_fleet_policy();
  void finish_fleet(FleetChange change, Reading reading);
  void switch_fleet(bool offline, const std::string& actor);
  void take_fleet(FleetChange change);
  [[nodiscard]] Reading read_base(FilePolicyPtr copy, bool is_reload,
                                  const config::FleetLayer& layer) const;
  void take_base(Reading& reading, const ChangeLine& line);
  void retire(FilePolicyPtr old);
  void free_retired();
  void schedule_expiry();
  void look_at_the_clock();
  void expire();
  void serve_refills();
  void await_quiet(std::function<void(bool)> done, std::chrono::steady_clock::time_point until);
  const std::shared_ptr<const acl::Snapshot>& new_snapshot();

  boost::asio::io_context& context_;
  PolicyReader read_;
  LivePolicy policy_;
  config::FleetState fleet_;  // in force; its switch is in policy_, too
  std::vector<FleetChange> fleet_changes_;
  const config::RestartKeys started_;
  std::optional<StateFile> state_;
  audit::Log* log_ = nullptr;
  Daemon daemon_;
  Counts counts_;
  RefillSignal refill_signal_;  // workers set it when they run low on a budget
  boost::asio::steady_timer expiry_, refill_pause_, retry_, retire_, quiet_;
  std::vector<Pending> pending_;  // in force, not yet on disk
  std::vector<Reload> reloads_;
  FilePolicyPtr retired_;                   // replaced, and not yet freed
  std::function<void()> refill_elsewhere_;  // set: another process has the state
  bool is_frozen_ = false;
  bool is_saving_ = false, must_save_ = false, cannot_save_ = false;
  UnixMicros judged_at_ = 0;  // everything that expired before this time was closed
  bool is_reading_ = false, must_read_cards_ = false;
  // Last, so that they end first: they handle files and policies, one task at a time.
  boost::asio::thread_pool saver_{1}, reader_{1};
};

}  // namespace stile::control
