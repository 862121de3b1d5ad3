// Manager: starts and stops units of systemd, and hears of their ends.
#pragma once

#include <systemd/sd-event.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "spawn/answers.h"
#include "units/bus.h"

namespace stile::spawn {

class Manager {
 public:
  using Done = std::function<void(const Result<void>&)>;

  // Part of the event loop, which ends with an error if the bus does.
  static Result<std::unique_ptr<Manager>> open(sd_event* loop);
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() = default;

  // `done` is called when systemd's job has ended.
  void start(const units::Unit& unit, Done done);
  void stop(const std::string& name, Done done);

  // Called when systemd has forgotten a unit, after all of its processes have ended.
  void on_removed(std::function<void(const std::string& name)> removed) {
    removed_ = std::move(removed);
  }

  struct Known {
    std::string name, active_state;
  };
  [[nodiscard]] Result<std::vector<Known>> list(const std::string& pattern) const;
  [[nodiscard]] UnitState state_of(const std::string& name) const;

 private:
  struct Call;
  explicit Manager(units::BusPtr bus) : bus_{std::move(bus)} {}
  Result<void> follow(sd_event* loop);
  void send(sd_bus_message* message, const std::string& what, Done done);
  static int note_answer(sd_bus_message* message, void* userdata, sd_bus_error* error);
  static int note_job(sd_bus_message* message, void* userdata, sd_bus_error* error);
  static int note_removed(sd_bus_message* message, void* userdata, sd_bus_error* error);

  units::BusPtr bus_;
  std::map<std::string, Done> jobs_;  // by the path of the job
  std::function<void(const std::string&)> removed_;
};

}  // namespace stile::spawn
