// Spawner: the workers, and what callers may do with them.
#pragma once

#include <systemd/sd-event.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "spawn/answers.h"
#include "spawn/event_source.h"
#include "spawn/journal.h"
#include "spawn/manager.h"
#include "spawn/record.h"
#include "spawn/request.h"
#include "spawn/server.h"
#include "spawn/settings.h"

namespace stile::spawn {

class Spawner {
 public:
  struct Parts {
    sd_event* loop;
    Manager* manager;
    Journal* journal;
    WorkerRecords records;
    std::string netns;  // path of stile-netns
  };
  Spawner(Parts parts, SpawnSettings settings);

  // Finds the workers of an earlier spawner, and removes what is left of those that have ended.
  [[nodiscard]] Result<void> recover();
  void set_settings(SpawnSettings settings) { settings_ = std::move(settings); }
  void serve(const Caller& peer, const std::string& text, const Reply& reply);

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : std::uint8_t { starting, running, ending };
  struct Worker {
    WorkerRecord record;
    State state = State::running;
    std::vector<Reply> waiting = {};  // for its end
    EventSource timer = {};           // in case systemd does not report the removal of its unit
    Spawner* owner = nullptr;
  };

  void spawn(const Caller& peer, const SpawnRequest& request, const Reply& reply);
  [[nodiscard]] Result<const Template*> check(const SpawnRequest& request) const;
  struct Prepared {
    units::Unit unit;
    std::string policy;  // for the log
  };
  [[nodiscard]] Result<Prepared> prepare(const Caller& peer, const SpawnRequest& request,
                                         const Template& from, WorkerRecord& record) const;
  void started(const std::string& id, const Result<void>& result, const std::string& token,
               const Reply& reply);
  void terminate(const Caller& peer, const SpawnRequest& request, const Reply& reply);
  void stopped(const std::string& id, const Result<void>& result);
  static int on_late(sd_event_source* source, std::uint64_t now, void* userdata);
  void removed(const std::string& unit);
  void forget(const std::string& id);
  // What is left of a worker whose unit has ended. Tried again until it is gone.
  struct Cleaning {
    WorkerRecord record;
    std::vector<Reply> waiting = {};  // for the end of it
    EventSource timer = {};
    Spawner* owner = nullptr;
  };
  void clean_up(Cleaning cleaning);
  void cleaned(const std::string& id, const Result<void>& result);
  static int on_again(sd_event_source* source, std::uint64_t now, void* userdata);
  void status(const Worker& worker, const Reply& reply);
  void ask_worker(const Caller& peer, const SpawnRequest& request, const Reply& reply);
  void look(const Worker& worker, const SpawnRequest& request, const Reply& reply) const;
  void refuse(const Caller& peer, const SpawnRequest& request, const std::string& problem,
              const Reply& reply);
  [[nodiscard]] ListedWorker listed(const Worker& worker) const;
  [[nodiscard]] Worker* find(const std::string& id);

  Parts parts_;
  SpawnSettings settings_;
  std::optional<Clock::time_point> last_spawn_;
  std::map<std::string, Worker> workers_;
  std::map<std::string, Cleaning> cleanings_;
};

}  // namespace stile::spawn
