// Jail: the namespaces of a command, and its life in them.
#include "run/jail.h"

#include <linux/keyctl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "acl/error_text.h"
#include "netns/files.h"
#include "netns/paths.h"
#include "netns/seccomp.h"
#include "netns/supervise.h"
#include "proxy/server/privileges.h"
#include "run/bwrap.h"
#include "run/kernel.h"
#include "run/loopback.h"
#include "run/view.h"

namespace stile::run {
namespace {

constexpr int all_namespaces = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS |
                               CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

void complain(const std::string& message) { std::fprintf(stderr, "stile: %s\n", message.c_str()); }

Result<void> enter_directory(const Plan& plan) {
  if (::chdir(plan.directory.c_str()) == 0) return {};
  complain("cannot enter " + plan.directory + " as user " + std::to_string(plan.identity.uid) +
           " (" + error_text(errno) + "); the command starts in /");
  if (::chdir("/") != 0) return netns::system_error("cannot enter /");
  return {};
}

// Everything that needs the capabilities of the new user namespace.
Result<UniqueFd> furnish(const Plan& plan) {
  if (auto done = assume(plan.identity); !done) return done.error();
  // After the change of user, which clears it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    return netns::system_error("cannot tie us to our parent");
  // A working directory that is being hidden would stay open as a way around.
  if (::chdir("/") != 0) return netns::system_error("cannot enter /");
  const auto has_own_proc = mount_view(plan.hidden, plan.identity);
  if (!has_own_proc) return has_own_proc.error();
  if (!*has_own_proc) {
    complain(
        "/proc shows what runs outside, too: parts of it are covered here, so that the kernel"
        " allows no new one");
  }
  return listen_on_loopback();
}

// From here on there is nothing to gain by taking over this process, either.
Result<void> give_up_powers(const Plan& plan) {
  if (auto done = enter_directory(plan); !done) return done;
  // The caller's session keyring would give its keys to whoever possesses it.
  ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  if (auto done = server::drop_privileges(""); !done) return done;
  if (::syscall(SYS_close_range, 3U, ~0U, 0U) != 0)
    return netns::system_error("cannot close descriptors");
  return netns::confine_system_calls();
}

// Turns this process into the command; returns only if it cannot, with the status to exit with.
int become(const Plan& plan) {
  const int status = netns::become(plan.command, plan.environment, plan.mask);
  const auto& name = plan.command[0];
  if (std::any_of(plan.hidden.directories.begin(), plan.hidden.directories.end(),
                  [&](const auto& directory) { return netns::is_within(name, directory.path); })) {
    complain("that place is hidden inside; see --expose");
  }
  return status;
}

int run_command(const Plan& plan) {
  if (plan.has_bwrap) return run_bwrap([&] { return become(plan); });
  const pid_t child = ::fork();
  if (child == 0) ::_exit(become(plan));
  if (child < 0) {
    complain(netns::system_error("cannot fork").message);
    return netns::own_failure;
  }
  return netns::supervise({child});
}

// When this process ends, the kernel ends all others of the PID namespace.
int live_inside(const Plan& plan, const Channel& channel) {
  const auto fail = [](const Error& error) {
    complain(error.message);
    return netns::own_failure;
  };
  // If the process outside is gone, it has said why.
  if (!channel.await_step()) return netns::own_failure;  // until our ids exist
  const auto listener = furnish(plan);
  if (!listener) return fail(listener.error());
  if (!channel.send_descriptor(*listener) || !channel.await_step()) return netns::own_failure;
  if (const auto done = give_up_powers(plan); !done) return fail(done.error());
  return run_command(plan);
}

// As fork(2), into namespaces of its own. Not clone3, which container runtimes like to refuse.
pid_t fork_into_namespaces() {
  return static_cast<pid_t>(
      ::syscall(SYS_clone, all_namespaces | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

}  // namespace

Result<Jail> Jail::make(const Plan& plan) {
  auto ends = Channel::make();
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
  if (auto done = jail.prepare(plan.identity); !done) {
    jail.abandon();
    return done.error();
  }
  return jail;
}

Result<void> Jail::prepare(const Identity& identity) {
  if (auto mapped = map_ids(pid_, identity); !mapped) {
    return refused_namespace(mapped.error().message, EPERM);
  }
  if (auto sent = channel_.send_step(); !sent) return sent;
  auto listener = channel_.receive_descriptor();
  if (!listener) return Error{};  // it has said why
  listener_ = std::move(*listener);
  return {};
}

void Jail::abandon() {
  channel_.close();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace stile::run
