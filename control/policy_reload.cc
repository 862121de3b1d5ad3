// PolicyEditor, reading: files are read and compiled in the background, then swapped in.
#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <utility>

#include "base/joined.h"
#include "config/settings_text.h"
#include "control/policy_editor.h"
#include "proxy/base/clock.h"
#include "proxy/base/log.h"

namespace stile::control {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

constexpr std::size_t agents_in_a_line = 20;
// By then the workers no longer use it, and freeing it delays no worker.
constexpr std::chrono::seconds retirement{2};

std::string count_text(std::size_t agents) {
  return std::to_string(agents) + (agents == 1 ? " agent" : " agents");
}

void warn_of_refused_cards(const FilePolicy& base) {
  for (const auto& card : base.loaded.cards.rejected) {
    log::warnings("card refused: " + card.problems.text());
  }
}

}  // namespace

void PolicyEditor::reload(std::string actor, ReloadDone done) {
  reloads_.push_back({std::move(actor), std::move(done)});
  const auto now = steady_clock::now().time_since_epoch();
  daemon_.notify(
      "RELOADING=1\nMONOTONIC_USEC=" +
      std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
  start_reading();
}

namespace {

Outcome<WrittenConfig> written(FilePolicy& base, const std::optional<LiveChanges>& live) {
  auto& loaded = base.loaded;
  if (loaded.settings.agent.size() + loaded.cards.accepted.size() != base.entries.size()) {
    return Failure{ErrorCode::bad_request, "this daemon was not configured by a stile.toml"};
  }
  if (live) write_into(loaded, *live, unix_micros());
  return WrittenConfig{loaded.settings.file, loaded.digest, config::settings_text(loaded),
                       loaded.cards.rejected};
}

}  // namespace

void PolicyEditor::write_config(bool from_disk, ConfigDone done) {
  // A copy: the editor keeps using its own.
  auto copy = std::make_shared<FilePolicyPtr>();
  if (!from_disk) *copy = std::make_unique<FilePolicy>(policy_.base());
  write_config_of(copy, fleet_.layer, std::nullopt, std::move(done));
}

void PolicyEditor::try_fleet(config::FleetLayer layer, ConfigDone done) {
  write_config_of(std::make_shared<FilePolicyPtr>(), std::move(layer), live_changes(policy_),
                  std::move(done));
}

// Without a base, it is read from the files.
void PolicyEditor::write_config_of(std::shared_ptr<FilePolicyPtr> copy, config::FleetLayer layer,
                                   std::optional<LiveChanges> live, ConfigDone done) {
  asio::post(reader_, [this, copy = std::move(copy), layer = std::move(layer),
                       live = std::move(live), done = std::move(done)] {
    Outcome<WrittenConfig> config = Failure{};
    try {
      auto base =
          *copy ? config::Checked<FilePolicyPtr>{std::move(*copy)} : read_file_policy(read_, layer);
      if (base) {
        config = written(**base, live);
      } else {
        config = Failure{ErrorCode::config_error, base.error().text()};
      }
    } catch (const std::exception& problem) {
      config = Failure{ErrorCode::internal, problem.what()};
    }
    asio::post(context_, [done, config = std::move(config)] { done(config); });
  });
}

void PolicyEditor::read_cards() {
  must_read_cards_ = true;
  start_reading();
}

// On the thread that reads. `copy` is the base in force.
PolicyEditor::Reading PolicyEditor::read_base(FilePolicyPtr copy, bool is_reload,
                                              const config::FleetLayer& layer) const {
  Reading reading;
  try {
    const auto before = copy->entries;
    auto base = is_reload ? read_file_policy(read_, layer) : read_cards_again(std::move(copy));
    copy.reset();
    if (!base) {
      reading.problems = base.error().text();
    } else if (const auto keys = started_.changed((*base)->loaded.settings); keys.has_errors()) {
      reading.problems = keys.text();
      reading.hint = "systemctl restart stiled   # or undo the change; nothing was changed";
    } else if (auto problems = problems_of((*base)->loaded.settings); !problems.empty()) {
      reading.problems = std::move(problems);
    } else {
      refuse_restart_cards(**base, started_);
      reading.changes = compare(before, (*base)->entries);
      reading.base = std::move(*base);
    }
  } catch (const std::exception& problem) {
    reading.base.reset();
    reading.problems = problem.what();
  }
  return reading;
}

void PolicyEditor::start_reading() {
  if (is_frozen_) return;
  if (!is_reading_ && !fleet_changes_.empty()) return read_fleet_policy();
  if (is_reading_ || (reloads_.empty() && !must_read_cards_)) return;
  is_reading_ = true;
  must_read_cards_ = false;
  auto asked = std::make_shared<std::vector<Reload>>(std::exchange(reloads_, {}));
  const bool is_reload = !asked->empty();
  // Copies: the editor keeps using its own. Entries are shared and never change.
  auto copy = std::make_shared<FilePolicyPtr>(std::make_unique<FilePolicy>(policy_.base()));
  asio::post(reader_, [this, asked, copy, is_reload, layer = fleet_.layer] {
    auto reading = std::make_shared<Reading>(read_base(std::move(*copy), is_reload, layer));
    asio::post(context_, [this, asked, reading, is_reload] {
      is_reading_ = false;
      if (is_reload) {
        finish_reload(*asked, std::move(*reading));
      } else {
        finish_cards(std::move(*reading));
      }
      start_reading();
    });
  });
}

// Why a daemon cannot apply these settings, not even after a restart; empty: it can.
std::string PolicyEditor::problems_of(const config::Settings& settings) const {
  const auto& audit = settings.audit;
  const auto may_rotate = audit::Log::check_rotation(audit.path, audit.max_bytes);
  return may_rotate ? std::string{} : may_rotate.error().message;
}

// The whole swap: from here on the workers decide by the new files.
void PolicyEditor::take_base(Reading& reading, const ChangeLine& line) {
  FilePolicyPtr old = policy_.rebase(std::move(reading.base));
  const auto& snapshot = new_snapshot();
  static_cast<void>(write_line(line));
  daemon_.publish(snapshot);
  daemon_.settings_changed();
  schedule_expiry();
  save();
  retire(std::move(old));
}

// One old base is kept for a while. If the next one comes sooner, the one before it is freed at
// once: otherwise fast reloads would pile them up.
void PolicyEditor::retire(FilePolicyPtr old) {
  free_retired();
  retired_ = std::move(old);
  retire_.expires_after(retirement);
  retire_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) free_retired();
  });
}

void PolicyEditor::free_retired() {
  if (!retired_) return;
  asio::post(reader_,
             [old = std::shared_ptr<FilePolicy>{std::move(retired_)}]() mutable { old.reset(); });
}

void PolicyEditor::finish_reload(const std::vector<Reload>& asked, Reading reading) {
  ChangeLine line;
  line.actor = joined_texts(asked, [](const Reload& one) { return one.actor; });
  if (!reading.base) {
    ++counts_.reloads_failed;
    log::errors("reload refused, the policy in force stays:\n" + reading.problems);
    line.detail = "config-error";
    static_cast<void>(write_line(line, true));
    daemon_.notify("READY=1\nSTATUS=reload refused: the config has errors");
    for (const auto& one : asked) {
      one.done(Failure{ErrorCode::config_error, reading.problems, reading.hint});
    }
    return;
  }
  ++counts_.reloads_ok;
  counts_.last_reload_s = unix_micros() / 1'000'000;
  line.detail = "reload: " + describe(reading.changes, agents_in_a_line);
  warn_of_refused_cards(*reading.base);
  take_base(reading, line);
  const auto agents = count_text(policy_.agents().size());
  log::info("reloaded: generation " + std::to_string(policy_.snapshot()->generation()) + ", " +
            agents);
  daemon_.notify("READY=1\nSTATUS=" + agents);
  const ReloadResult result{policy_.snapshot()->generation(), std::move(reading.changes)};
  for (const auto& one : asked) one.done(result);
}

void PolicyEditor::finish_cards(Reading reading) {
  if (!reading.base) {
    log::errors("the agent cards cannot be read, the policy in force stays:\n" + reading.problems);
    return;
  }
  warn_of_refused_cards(*reading.base);
  const bool is_same = reading.changes.empty() && reading.base->entries == policy_.base().entries;
  if (is_same) {
    retire(policy_.rebase(std::move(reading.base)));  // the refused ones may differ
    return;
  }
  take_base(reading, {audit::Event::policy,
                      {},
                      "stiled (card directory)",
                      "cards: " + describe(reading.changes, agents_in_a_line),
                      false});
}

}  // namespace stile::control
