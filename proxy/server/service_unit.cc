// ServiceUnit: what systemd says about the unit of this process, and its other processes.
#include "proxy/server/service_unit.h"

#include <systemd/sd-bus.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "proxy/server/upgrade.h"

namespace stile::server {
namespace {

using std::chrono::milliseconds, std::chrono::seconds;

constexpr std::uint64_t patience_us = 1'000'000;
constexpr const char* systemd = "org.freedesktop.systemd1";
constexpr const char* unit_interface = "org.freedesktop.systemd1.Unit";
constexpr milliseconds before_systemd{1000};
constexpr milliseconds one_look{10};
constexpr int most_looks = 300;

template <auto Release>
struct Unref {
  template <class T>
  void operator()(T* object) const {
    Release(object);
  }
};
using Bus = std::unique_ptr<sd_bus, Unref<sd_bus_flush_close_unref>>;
using Reply = std::unique_ptr<sd_bus_message, Unref<sd_bus_message_unref>>;
using Text = std::unique_ptr<char, Unref<std::free>>;

Bus connect() {
  sd_bus* bus = nullptr;
  if (::sd_bus_open_system(&bus) < 0) return {};
  ::sd_bus_set_method_call_timeout(bus, patience_us);
  return Bus{bus};
}

std::string own_unit(sd_bus* bus) {
  sd_bus_message* reply = nullptr;
  const int done = ::sd_bus_call_method(bus, systemd, "/org/freedesktop/systemd1",
                                        "org.freedesktop.systemd1.Manager", "GetUnitByPID", nullptr,
                                        &reply, "u", static_cast<std::uint32_t>(::getpid()));
  const Reply owned{reply};
  const char* path = nullptr;
  return done >= 0 && ::sd_bus_message_read(reply, "o", &path) >= 0 ? path : "";
}

// "restart" from the request until the stop is over, then "start"; "": there is no job.
std::string job_type(sd_bus* bus, const std::string& unit) {
  sd_bus_message* reply = nullptr;
  const int done = ::sd_bus_get_property(bus, systemd, unit.c_str(), unit_interface, "Job", nullptr,
                                         &reply, "(uo)");
  const Reply owned{reply};
  std::uint32_t number = 0;
  const char* path = nullptr;
  if (done < 0 || ::sd_bus_message_read(reply, "(uo)", &number, &path) < 0 || number == 0)
    return {};
  char* type = nullptr;
  const int got = ::sd_bus_get_property_string(bus, systemd, path, "org.freedesktop.systemd1.Job",
                                               "JobType", nullptr, &type);
  const Text text{type};
  return got >= 0 ? type : "";
}

// Its folder among the control groups, for each way to mount them; empty: not of a service.
std::vector<std::string> group_folders() {
  std::vector<std::string> folders;
  std::ifstream lines{"/proc/self/cgroup"};
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos || !line.ends_with(".service")) continue;
    const auto controllers = std::string_view{line}.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers == "name=systemd") folders.push_back("/sys/fs/cgroup/systemd" + path);
    if (!controllers.empty()) continue;
    folders.push_back("/sys/fs/cgroup" + path);
    folders.push_back("/sys/fs/cgroup/unified" + path);
  }
  return folders;
}

std::vector<pid_t> other_processes() {
  std::vector<pid_t> others;
  for (const auto& folder : group_folders()) {
    std::ifstream numbers{folder + "/cgroup.procs"};
    for (pid_t number = 0; numbers >> number;) {
      if (number > 1 && number != ::getpid()) others.push_back(number);
    }
    if (!others.empty()) break;
  }
  return others;
}

}  // namespace

bool is_command_of_service() {
  const char* started = std::getenv("SYSTEMD_EXEC_PID");
  return started != nullptr && started == std::to_string(::getpid()) && !service_run().empty();
}

ServiceUnit ask_systemd() noexcept {
  ServiceUnit found;
  try {
    const Bus bus = connect();
    const std::string unit = bus ? own_unit(bus.get()) : "";
    if (unit.empty()) return found;
    const std::string job = job_type(bus.get(), unit);
    found.is_being_restarted = job == "restart";
    found.is_being_started = job == "start";
    std::uint64_t stop_us = 0;
    const int got = ::sd_bus_get_property_trivial(bus.get(), systemd, unit.c_str(),
                                                  "org.freedesktop.systemd1.Service",
                                                  "TimeoutStopUSec", nullptr, 't', &stop_us);
    constexpr std::uint64_t longest_us = 24ULL * 3600 * 1'000'000;
    if (got < 0) return found;
    const milliseconds stop{static_cast<std::int64_t>(std::min(stop_us, longest_us) / 1000)};
    found.time_to_stop = std::max(stop - before_systemd, stop / 2);
  } catch (const std::exception&) {
    return {};
  }
  return found;
}

void end_others() noexcept {
  try {
    for (int i = 0; i < most_looks; ++i) {
      const auto others = other_processes();
      if (others.empty()) return;
      for (const pid_t one : others) ::kill(one, SIGKILL);
      std::this_thread::sleep_for(one_look);
    }
  } catch (const std::exception&) {
    return;  // systemd kills this process; the kernel then kills the daemon
  }
}

void end_left_over() noexcept {
  const ServiceUnit unit = ask_systemd();
  if (!unit.is_being_restarted && !unit.is_being_started) end_others();
}

}  // namespace stile::server
