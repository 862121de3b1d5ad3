// processes: finds the processes in an agent's namespaces.
#include "netns/processes.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/files.h"
#include "base/system_error.h"
#include "netns/namespaces.h"

namespace stile::netns {
namespace {

constexpr int most_rounds = 200;
constexpr std::chrono::milliseconds between_rounds{10};

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

struct Home {
  struct stat net, user, own_user;
};

bool is_below(UniqueFd user, const struct stat& ancestor) {
  struct stat status {};
  while (user && ::fstat(user.get(), &status) == 0) {
    if (is_same(status, ancestor)) return true;
    user = UniqueFd{::ioctl(user.get(), NS_GET_PARENT)};  // fails at our own and above
  }
  return false;
}

bool is_inside(int proc, const std::string& pid, const Home& home) {
  struct stat status {};
  if (::fstatat(proc, (pid + "/ns/net").c_str(), &status, 0) == 0 && is_same(status, home.net)) {
    return true;
  }
  const auto user = pid + "/ns/user";
  if (::fstatat(proc, user.c_str(), &status, 0) != 0 || is_same(status, home.own_user))
    return false;
  return is_below(UniqueFd{::openat(proc, user.c_str(), O_RDONLY | O_CLOEXEC)}, home.user);
}

// By a descriptor: another process may have the same number in the meantime.
void kill_if_inside(pid_t pid, const Home& home) {
  const UniqueFd handle{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
  const UniqueFd proc{::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (handle && is_inside(proc.get(), std::to_string(pid), home)) {
    ::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0);
  }
}

Result<Home> home_of(const UniqueFd& namespace_fd) {
  Home home{};
  const auto owner = owner_of(namespace_fd);
  if (!owner) return owner.error();
  if (::fstat(namespace_fd.get(), &home.net) != 0 || ::fstat(owner->get(), &home.user) != 0 ||
      ::stat("/proc/self/ns/user", &home.own_user) != 0) {
    return system_error("cannot read the namespaces");
  }
  return home;
}

}  // namespace

Result<std::vector<Process>> processes_in(const UniqueFd& namespace_fd) {
  const auto home = home_of(namespace_fd);
  if (!home) return home.error();
  const UniqueFd proc{::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  const auto names = names_in(proc.get());
  if (!names) return Error{"cannot read /proc: " + names.error().message};
  std::vector<Process> found;
  for (const auto& name : *names) {
    pid_t pid = 0;
    const auto* end = name.data() + name.size();
    if (std::from_chars(name.data(), end, pid).ptr != end || !is_inside(proc.get(), name, *home)) {
      continue;
    }
    const auto comm = read_file(proc.get(), name + "/comm");
    const auto text = comm && *comm ? **comm : std::string{"?\n"};
    found.push_back({pid, text.substr(0, text.find('\n'))});
  }
  return found;
}

Result<std::vector<Process>> kill_processes_in(const UniqueFd& namespace_fd) {
  const auto home = home_of(namespace_fd);
  if (!home) return home.error();
  std::vector<Process> all;
  for (int round = 0; round < most_rounds; ++round) {
    const auto found = processes_in(namespace_fd);
    if (!found) return found.error();
    if (found->empty()) return all;
    for (const auto& process : *found) {
      kill_if_inside(process.pid, *home);
      const bool is_new = std::none_of(
          all.begin(), all.end(), [&](const Process& known) { return known.pid == process.pid; });
      if (is_new) all.push_back(process);
    }
    std::this_thread::sleep_for(between_rounds);
  }
  return Error{"processes in the namespace do not end"};
}

}  // namespace stile::netns
