// limits: the resource limits of the command.
#include "run/limits.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/system_error.h"
#include "units/bus.h"

namespace stile::run {
namespace {

constexpr rlim_t bytes_per_mb = 1U << 20U;
constexpr std::chrono::seconds longest_answer{5};

std::string scope_of(pid_t process) { return "stile-run-" + std::to_string(process) + ".scope"; }

// Whether a controller limits the scope, in either version of control groups.
bool has_controller(pid_t process, std::string_view controller, const char* file) {
  std::ifstream groups{"/proc/" + std::to_string(process) + "/cgroup"};
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto names = std::string_view{line}.substr(first + 1, second - first - 1);
    const auto path = line.substr(second + 1);
    if (!path.ends_with(scope_of(process))) continue;
    std::error_code failed;
    if (names.empty() && std::filesystem::exists("/sys/fs/cgroup" + path + '/' + file, failed)) {
      return true;
    }
    if (names.find(controller) != std::string_view::npos) return true;
  }
  return false;
}

Result<void> enter_scope(pid_t process, const config::ResourceLimits& limits) {
  const auto bus = units::open_bus(::geteuid() == 0 ? units::Whose::system : units::Whose::user);
  if (!bus) return bus.error();
  units::Unit unit{scope_of(process), units::group_limits(limits)};
  unit.properties.push_back({"Description", std::string{"stile run"}});
  unit.properties.push_back({"PIDs", std::vector{static_cast<std::uint32_t>(process)}});
  return units::start_scope(**bus, unit, longest_answer);
}

}  // namespace

std::vector<ProcessLimit> process_limits(const config::ResourceLimits& limits) {
  std::vector<ProcessLimit> found;
  // Not RLIMIT_AS: node and Java reserve far more addresses than they use.
  if (limits.memory_mb) found.push_back({RLIMIT_DATA, *limits.memory_mb * bytes_per_mb});
  if (limits.max_processes) found.push_back({RLIMIT_NPROC, *limits.max_processes});
  if (limits.max_open_files) found.push_back({RLIMIT_NOFILE, *limits.max_open_files});
  if (limits.disk_mb) found.push_back({RLIMIT_FSIZE, *limits.disk_mb * bytes_per_mb});
  return found;
}

Result<void> apply_process_limits(const std::vector<ProcessLimit>& limits) {
  for (const auto& [resource, value] : limits) {
    rlimit now{};
    if (::getrlimit(resource, &now) != 0) return system_error("cannot read a limit");
    const auto limit = std::min(value, now.rlim_max);
    const rlimit wanted{limit, limit};
    if (::setrlimit(resource, &wanted) != 0) return system_error("cannot set a limit");
  }
  return {};
}

std::vector<std::string> limit_group(pid_t process, const config::ResourceLimits& limits) {
  std::vector<std::string> lines;
  if (limits.disk_mb) {
    lines.emplace_back(
        "disk_mb limits each file, and each directory made for the command; what it writes in its"
        " workspace altogether is not limited");
  }
  if (units::group_limits(limits).empty()) return lines;
  const auto entered = enter_scope(process, limits);
  const auto check = [&](bool is_set, const char* controller, const char* file, const char* line) {
    if (is_set && !(entered && has_controller(process, controller, file))) lines.emplace_back(line);
  };
  check(limits.memory_mb.has_value(), "memory", "memory.max",
        "memory_mb is enforced for each process only, not for all of them together");
  check(limits.cpu_percent.has_value(), "cpu", "cpu.max", "cpu_percent is not enforced");
  check(limits.cpu_shares.has_value(), "cpu", "cpu.weight", "cpu_shares is not enforced");
  if (!lines.empty() && !entered)
    lines.push_back("systemd did not set the limits: " + entered.error().message);
  return lines;
}

}  // namespace stile::run
