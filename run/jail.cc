// Jail: the namespaces of a command, from their creation to its end.
#include "run/jail.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/quoted.h"
#include "base/system_error.h"
#include "base/terminal.h"
#include "confine/powers.h"
#include "confine/supervise.h"
#include "run/kernel.h"
#include "run/loopback.h"
#include "run/ports.h"

namespace stile::run {
namespace {

constexpr int all_namespaces = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS |
                               CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

// A message can have names of files.
void complain(const std::string& message) {
  std::fprintf(stderr, "stile: %s\n", without_controls(message).c_str());
}

Result<void> enter_directory(const Plan& plan) {
  const auto& shown = plan.files.view.view.directory;
  const std::string directory = shown.empty() ? "/" : shown;
  if (::chdir(directory.c_str()) != 0) {
    complain("cannot enter " + directory + " as user " + std::to_string(plan.identity.uid) + " (" +
             error_text(errno) + "); the command starts in /");
    if (::chdir("/") != 0) return system_error("cannot enter /");
    return {};
  }
  // In containers and CI root owns everything, and a command that cannot write often fails without
  // a clear message.
  if (plan.identity.is_changed && directory != "/" && ::access(".", W_OK) != 0) {
    complain("the command runs as user " + plan.identity.name + " and cannot write in " +
             directory + ": host root is never passed on; start in a directory of that user," +
             " for example: install -d -o " + plan.identity.name + " /srv/work && cd /srv/work");
  }
  return {};
}

// Paths that an earlier command may have chosen, without bytes that could control a terminal.
std::string listed(const std::vector<std::string>& paths) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(paths.size(), most); ++i) {
    text += (i > 0 ? ", " : "") + printable(paths[i]);
  }
  if (paths.size() > most) text += " and " + std::to_string(paths.size() - most) + " more";
  return text;
}

// Everything that needs the capabilities of the new user namespace.
Result<UniqueFd> furnish(const Plan& plan) {
  if (auto done = assume(plan.identity); !done) return done.error();
  // After the change of user, which clears this setting.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    return system_error("cannot ask to be ended with the parent process");
  }
  // Private: later mounts of the host do not appear inside.
  if (::mount(nullptr, "/", nullptr, MS_PRIVATE | MS_REC, nullptr) != 0) {
    return refused_namespace("cannot change mounts", errno);
  }
  const auto report = confine::make_view(plan.files.view);
  if (!report) return report.error();
  if (!report->has_own_proc) {
    complain(
        "/proc shows what runs outside, too: parts of it are covered here, so that the kernel"
        " allows no new one");
  }
  if (!report->secrets.empty()) {
    complain("hidden from the command: " + listed(report->secrets) +
             "; to show one, name it: --read PATH");
  }
  return listen_on_loopback();
}

// Turns this process into the command; returns only if it cannot, with the status to exit with.
int become(const Plan& plan) {
  const int status = confine::become(plan.command, plan.files.environment, plan.mask);
  const auto& name = plan.command[0];
  if (status == confine::not_found && plan.was_found) {
    complain(name + " is not among the files that the command sees; see --read");
  }
  return status;
}

int start_command(const Plan& plan) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (plan.has_own_group) ::setpgid(0, 0);
    ::_exit(become(plan));
  }
  if (child < 0) {
    complain(system_error("cannot fork").message);
    return confine::own_failure;
  }
  return confine::supervise({.child = child, .can_pause = true});
}

// When this process ends, the kernel kills all others in the PID namespace.
int live_inside(const Plan& plan, const StepChannel& channel) {
  const auto fail = [](const Error& error) {
    complain(error.message);
    return confine::own_failure;
  };
  // If the process outside has ended, it has already reported why.
  if (!channel.await_step()) return confine::own_failure;  // until our ids exist
  const auto listener = furnish(plan);
  if (!listener) return fail(listener.error());
  auto captured = plan.capture ? open_capture(*plan.capture) : std::vector<UniqueFd>{};
  if (!captured) return fail(captured.error());
  if (!channel.send_descriptor(*listener)) return confine::own_failure;
  for (const UniqueFd& fd : *captured) {
    if (!channel.send_descriptor(fd)) return confine::own_failure;
  }
  captured->clear();
  auto host_ports = listen_on(plan.host_ports, "inside");
  if (!host_ports) return fail(host_ports.error());
  for (const UniqueFd& fd : *host_ports) {
    if (!channel.send_descriptor(fd)) return confine::own_failure;
  }
  host_ports->clear();
  if (!channel.await_step()) return confine::own_failure;
  if (const auto done = enter_directory(plan); !done) return fail(done.error());
  if (const auto done = apply_process_limits(plan.limits); !done) return fail(done.error());
  if (const auto done = confine::give_up(confine::Powers::none); !done) return fail(done.error());
  return start_command(plan);
}

// Like fork(2), into new namespaces. Not clone3, which container runtimes often refuse.
pid_t fork_into_namespaces() {
  return static_cast<pid_t>(
      ::syscall(SYS_clone, all_namespaces | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

}  // namespace

Result<Jail> Jail::make(const Plan& plan) {
  auto ends = StepChannel::make();
  if (!ends) return ends.error();
  auto& [outside, inside] = *ends;
  const pid_t pid = fork_into_namespaces();
  if (pid < 0) return refused_namespace("cannot make the namespaces", errno);
  if (pid == 0) {
    outside.close();
    ::_exit(live_inside(plan, inside));
  }
  inside.close();
  Jail jail{pid, std::move(outside)};
  if (auto done = jail.prepare(plan); !done) {
    jail.abandon();
    return done.error();
  }
  return jail;
}

Result<void> Jail::prepare(const Plan& plan) {
  if (auto mapped = map_ids(pid_, plan.identity); !mapped) {
    return refused_namespace(mapped.error().message, EPERM);
  }
  if (auto sent = channel_.send_step(); !sent) return sent;
  auto listener = channel_.receive_descriptor();
  if (!listener) return Error{};  // the process inside has reported why
  listener_ = std::move(*listener);
  if (auto done = receive(plan.capture ? plan.capture->sockets() : 0, captured_); !done)
    return done;
  return receive(plan.host_ports.size(), host_ports_);
}

Result<void> Jail::receive(std::size_t count, std::vector<UniqueFd>& to) const {
  while (to.size() < count) {
    auto fd = channel_.receive_descriptor();
    if (!fd) return Error{};  // the process inside has reported why
    to.push_back(std::move(*fd));
  }
  return {};
}

void Jail::abandon() {
  channel_.close();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace stile::run
