// exec: runs a command as an agent.
#include "netns/exec.h"

#include <grp.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "netns/environment.h"
#include "netns/fence.h"
#include "netns/files.h"
#include "netns/hide.h"
#include "netns/inspect.h"
#include "netns/namespaces.h"
#include "netns/open_sockets.h"
#include "netns/seccomp.h"
#include "netns/supervise.h"
#include "netns/table_state.h"

namespace stile::netns {
namespace {

constexpr auto agent_home = "/root";

// All that is needed from here on; collected while we are still the host's root in its namespaces.
struct Prepared {
  UniqueFd network, user;
  View view;
  std::string hostname, directory;
  std::vector<std::string> command, environment;
};

// What is hidden from everybody, what this host's config names, and what listens here.
std::vector<Hidden> hidden_paths(const Setup& setup) {
  auto paths = usually_hidden();
  paths.push_back({setup.state_dir, 0755});
  for (const auto& directory : setup.card_directories) paths.push_back({directory, 0755});
  paths.push_back({setup.control, 0755});
  for (auto& socket : open_sockets()) paths.push_back({std::move(socket), 0});
  return paths;
}

Result<void> require_fence(Host& host, const Record& record) {
  const auto fence = inspect_fence(host);
  if (!fence) return fence.error();
  const auto state = inspect(host, record);
  if (!state) return state.error();
  if (fence->is_whole() && state->has_devices && state->is_device_shut && state->is_admitted) {
    return {};
  }
  return Error{"the fence is not whole; see `stile-netns check`, run `stile-netns repair`"};
}

Result<Prepared> prepare(Host& host, const ExecRequest& request) {
  const auto record = host.records.find(request.id);
  if (!record) return record.error();
  if (!*record || !(*record)->is_complete) return Error{"there is no agent " + request.id};
  if (auto fence = require_fence(host, **record); !fence) return fence.error();
  auto network = open_namespace(request.id);
  if (!network) return network.error();
  if (!*network) return Error{"there is no namespace " + namespace_path(request.id)};
  auto user = owner_of(**network);
  if (!user) return user.error();
  const auto& settings = host.setup.netns;
  const auto uids = uid_range(settings.subnet, (*record)->agent.address);
  if (!uids) return uids.error();
  std::error_code failed;
  auto directory = std::filesystem::current_path(failed).string();
  std::vector<std::string> given;
  for (char** variable = environ; *variable != nullptr; ++variable) given.emplace_back(*variable);
  return Prepared{std::move(**network),
                  std::move(*user),
                  {uids->first, hidden_paths(host.setup), request.expose},
                  request.id,
                  failed ? "/" : directory,
                  request.command,
                  agent_environment(given, proxy_url(settings), agent_home, request.expose)};
}

// From the host's root to the agent's. The order matters: mounts while we may, then the user
// namespace, then a copy of the mounts that its root cannot undo, then its user ids.
Result<void> become_agent(const Prepared& prepared) {
  if (::setns(prepared.network.get(), CLONE_NEWNET) != 0) {
    return system_error("cannot enter the network namespace");
  }
  // A working directory that is being hidden would stay open as a way around.
  if (::chdir("/") != 0) return system_error("cannot change to /");
  if (auto mounted = mount_view(prepared.view); !mounted) return mounted;
  if (::setns(prepared.user.get(), CLONE_NEWUSER) != 0) {
    return system_error("cannot enter the user namespace");
  }
  if (::unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP) != 0) {
    return system_error("cannot make the namespaces");
  }
  if (::setgroups(0, nullptr) != 0 || ::setresgid(0, 0, 0) != 0 || ::setresuid(0, 0, 0) != 0) {
    return system_error("cannot become root inside");
  }
  // After the change of user, which clears it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return system_error("cannot tie us to our parent");
  // Root's session keyring would give its keys to whoever possesses it.
  ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  if (::sethostname(prepared.hostname.data(), prepared.hostname.size()) != 0) {
    return system_error("cannot set the host name");
  }
  if (::chdir(prepared.directory.c_str()) != 0 && ::chdir(agent_home) != 0 && ::chdir("/") != 0) {
    return system_error("cannot change to /");
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error("no_new_privs");
  if (::syscall(SYS_close_range, 3U, ~0U, 0U) != 0) return system_error("cannot close descriptors");
  return confine_system_calls();
}

// The first process of the PID namespace: when it ends, the kernel ends all others.
int first_process(const Prepared& prepared, const sigset_t& mask) {
  if (const auto done = become_agent(prepared); !done) {
    std::fprintf(stderr, "stile-netns: %s\n", done.error().message.c_str());
    return own_failure;
  }
  const pid_t child = ::fork();
  if (child == 0) ::_exit(become(prepared.command, prepared.environment, mask));
  return child < 0 ? own_failure : supervise({child});
}

}  // namespace

Result<int> exec_as(Host& host, const ExecRequest& request) {
  const auto prepared = prepare(host, request);
  if (!prepared) return prepared.error();
  const auto mask = block_signals();
  if (::unshare(CLONE_NEWPID) != 0) return system_error("cannot make a PID namespace");
  const pid_t child = ::fork();
  if (child < 0) return system_error("cannot fork");
  if (child == 0) ::_exit(first_process(*prepared, mask));
  return supervise({child});
}

}  // namespace stile::netns
