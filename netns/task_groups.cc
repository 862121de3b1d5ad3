// TaskGroups: directories and files of cgroup2.
#include "netns/task_groups.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <string_view>

#include "base/files.h"

namespace stile::netns {
namespace {

constexpr std::string_view version_2 = "0::";

std::string name_of(std::uint64_t run) { return "task-" + std::to_string(run); }

UniqueFd open_group(const std::string& path) {
  return UniqueFd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
}

bool write_file(int directory, const std::string& name, std::string_view text) {
  const UniqueFd file{::openat(directory, name.c_str(), O_WRONLY | O_CLOEXEC)};
  return file && write_all(file.get(), text);
}

}  // namespace

TaskGroups TaskGroups::of_unit(const std::string& worker) {
  TaskGroups groups;
  std::istringstream lines{read_or_empty("/proc/self/cgroup")};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(version_2) || !line.ends_with('@' + worker + ".service")) continue;
    const auto path = line.substr(version_2.size());
    for (const char* top : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      UniqueFd unit = open_group(top + path);
      if (!unit || ::faccessat(unit.get(), "cgroup.kill", W_OK, 0) != 0) continue;
      groups.unit_ = std::move(unit);
      break;
    }
  }
  return groups;
}

bool TaskGroups::enter(std::uint64_t run, pid_t process) {
  if (!unit_) return false;
  const auto name = name_of(run);
  return ::mkdirat(unit_.get(), name.c_str(), 0755) == 0 &&
         write_file(unit_.get(), name + "/cgroup.procs", std::to_string(process));
}

void TaskGroups::leave(pid_t process) const {
  static_cast<void>(write_file(unit_.get(), "cgroup.procs", std::to_string(process)));
}

void TaskGroups::kill(std::uint64_t run) const {
  if (unit_) static_cast<void>(write_file(unit_.get(), name_of(run) + "/cgroup.kill", "1"));
}

void TaskGroups::forget(std::uint64_t run) {
  if (!unit_) return;
  ended_.insert(run);
  std::erase_if(ended_, [this](std::uint64_t one) {
    return ::unlinkat(unit_.get(), name_of(one).c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
  });
}

}  // namespace stile::netns
