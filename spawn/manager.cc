// Manager: systemd's D-Bus API.
#include "spawn/manager.h"

#include <cstdlib>
#include <limits>

#include "base/system_error.h"

namespace stile::spawn {
namespace {

// systemd answers at once; a job takes longer and is reported by a signal.
constexpr std::uint64_t patience_us = 5'000'000;

struct FreeError {
  sd_bus_error error{};
  ~FreeError() { sd_bus_error_free(&error); }
};

}  // namespace

// A call whose answer is on the way.
struct Manager::Call {
  Manager* manager;
  std::string what;
  Done done;
};

Result<std::unique_ptr<Manager>> Manager::open(sd_event* loop) {
  auto bus = units::open_bus(units::Whose::system);
  if (!bus) return bus.error();
  std::unique_ptr<Manager> manager{new Manager{std::move(*bus)}};
  if (auto done = manager->follow(loop); !done) return done.error();
  return Result<std::unique_ptr<Manager>>{boost::system::in_place_value, std::move(manager)};
}

Result<void> Manager::follow(sd_event* loop) {
  sd_bus_set_method_call_timeout(bus_.get(), patience_us);
  sd_bus_set_exit_on_disconnect(bus_.get(), 1);
  const auto match = [&](const char* signal, sd_bus_message_handler_t handler) {
    return sd_bus_match_signal(bus_.get(), nullptr, units::manager_name, units::manager_path,
                               units::manager_interface, signal, handler, this);
  };
  int code = match("JobRemoved", note_job);
  if (code >= 0) code = match("UnitRemoved", note_removed);
  if (code >= 0) code = sd_bus_attach_event(bus_.get(), loop, SD_EVENT_PRIORITY_NORMAL);
  if (code < 0) return units::bus_error("cannot follow systemd", code);
  return {};
}

void Manager::send(sd_bus_message* message, const std::string& what, Done done) {
  auto call = std::make_unique<Call>(Call{this, what, std::move(done)});
  const int sent = sd_bus_call_async(bus_.get(), nullptr, message, note_answer, call.get(), 0);
  if (sent < 0) {
    call->done(units::bus_error(what, sent));
    return;
  }
  static_cast<void>(call.release());  // note_answer owns it
}

int Manager::note_answer(sd_bus_message* message, void* userdata, sd_bus_error* /*error*/) {
  const std::unique_ptr<Call> call{static_cast<Call*>(userdata)};
  const char* job = nullptr;
  if (const auto* error = sd_bus_message_get_error(message)) {
    call->done(units::bus_error(call->what, sd_bus_message_get_errno(message), error));
  } else if (const int code = sd_bus_message_read(message, "o", &job); code < 0) {
    call->done(units::bus_error(call->what, code));
  } else {
    call->manager->jobs_[job] = std::move(call->done);
  }
  return 0;
}

int Manager::note_job(sd_bus_message* message, void* userdata, sd_bus_error* /*error*/) {
  auto& manager = *static_cast<Manager*>(userdata);
  std::uint32_t id = 0;
  const char* path = nullptr;
  const char* unit = nullptr;
  const char* result = nullptr;
  if (sd_bus_message_read(message, "uoss", &id, &path, &unit, &result) < 0) return 0;
  auto job = manager.jobs_.extract(path);
  if (job.empty()) return 0;
  const std::string text = result;
  if (text == "done") {
    job.mapped()({});
  } else {
    job.mapped()(Error{"systemd's job ended with: " + text});
  }
  return 0;
}

int Manager::note_removed(sd_bus_message* message, void* userdata, sd_bus_error* /*error*/) {
  auto& manager = *static_cast<Manager*>(userdata);
  const char* name = nullptr;
  if (sd_bus_message_read(message, "s", &name) >= 0 && manager.removed_) manager.removed_(name);
  return 0;
}

void Manager::start(const units::Unit& unit, Done done) {
  const auto message = units::start_call(*bus_, unit);
  if (!message) return done(message.error());
  send(message->get(), "systemd refuses " + unit.name, std::move(done));
}

void Manager::stop(const std::string& name, Done done) {
  sd_bus_message* message = nullptr;
  const auto what = "systemd cannot stop " + name;
  int code =
      sd_bus_message_new_method_call(bus_.get(), &message, units::manager_name, units::manager_path,
                                     units::manager_interface, "StopUnit");
  const units::MessagePtr owned{message};
  if (code >= 0) code = sd_bus_message_append(message, "ss", name.c_str(), "replace");
  if (code < 0) return done(units::bus_error(what, code));
  send(message, what, std::move(done));
}

Result<std::vector<Manager::Known>> Manager::list(const std::string& pattern) const {
  FreeError error;
  sd_bus_message* answer = nullptr;
  int code = sd_bus_call_method(bus_.get(), units::manager_name, units::manager_path,
                                units::manager_interface, "ListUnitsByPatterns", &error.error,
                                &answer, "asas", 0, 1, pattern.c_str());
  const units::MessagePtr owned{answer};
  if (code < 0) return units::bus_error("systemd does not list its units", code, &error.error);
  code = sd_bus_message_enter_container(answer, 'a', "(ssssssouso)");
  std::vector<Known> known;
  while (code >= 0) {
    const char* name = nullptr;
    const char* active = nullptr;
    code = sd_bus_message_read(answer, "(ssssssouso)", &name, nullptr, nullptr, &active, nullptr,
                               nullptr, nullptr, nullptr, nullptr, nullptr);
    if (code <= 0) break;
    known.push_back({name, active});
  }
  if (code < 0) return units::bus_error("systemd's list cannot be read", code);
  return known;
}

UnitState Manager::state_of(const std::string& name) const {
  UnitState state;
  char* path = nullptr;
  if (sd_bus_path_encode("/org/freedesktop/systemd1/unit", name.c_str(), &path) < 0) return state;
  const std::unique_ptr<char, decltype(&std::free)> owned{path, std::free};
  const auto read = [&](const char* property, std::optional<std::uint64_t>& to) {
    std::uint64_t value = 0;
    const int code = sd_bus_get_property_trivial(bus_.get(), units::manager_name, path,
                                                 "org.freedesktop.systemd1.Service", property,
                                                 nullptr, 't', &value);
    constexpr auto unknown = std::numeric_limits<std::uint64_t>::max();
    if (code >= 0 && value != unknown) to = value;
  };
  read("MemoryCurrent", state.memory_bytes);
  read("TasksCurrent", state.processes);
  read("CPUUsageNSec", state.cpu_nanoseconds);
  return state;
}

}  // namespace stile::spawn
