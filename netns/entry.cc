// entry: the way from the host's root into an agent's namespaces.
#include "netns/entry.h"

#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "base/quoted.h"
#include "base/system_error.h"
#include "confine/environment.h"
#include "confine/paths.h"
#include "confine/powers.h"
#include "confine/survey.h"
#include "confine/trust.h"
#include "netns/control.h"
#include "netns/fence.h"
#include "netns/inspect.h"
#include "netns/namespaces.h"
#include "netns/resolver.h"
#include "netns/ruleset.h"
#include "netns/table_state.h"

namespace stile::netns {
namespace {

constexpr auto root_home = "/root";

// Hidden, even if it is the working directory: Stile's own files, and files that only the host's
// root may see.
std::vector<std::string> hidden_paths(const Setup& setup) {
  std::vector<std::string> paths{root_home,          "/run",         "/tmp", "/var/tmp",
                                 resolver_directory, setup.state_dir};
  paths.insert(paths.end(), setup.card_directories.begin(), setup.card_directories.end());
  paths.push_back(setup.control);
  return paths;
}

Result<void> add_named(const std::vector<std::string>& paths, const char* flag,
                       std::vector<std::string>& to) {
  for (const auto& path : paths) {
    if (!path.starts_with('/'))
      return Error{std::string{flag} + ' ' + path + ": not an absolute path"};
    auto place = confine::named_place(path, flag);
    if (!place) return place.error();
    to.push_back(std::move(*place));
  }
  return {};
}

Result<confine::PlanRequest> make_request(const Setup& setup, const EntryRequest& request) {
  confine::PlanRequest wanted;
  wanted.files = request.has_host_files ? confine::Files::host : confine::Files::view;
  wanted.directory = request.directory;
  wanted.directory_at = request.directory_at;
  wanted.workspace = request.workspace;
  wanted.home = request.home;
  wanted.homes = {root_home};
  wanted.hidden = hidden_paths(setup);
  if (auto done = add_named(request.read, "--read", wanted.read); !done) return done.error();
  if (auto done = add_named(request.write, "--write", wanted.write); !done) return done.error();
  if (auto done = add_named(request.expose, "--expose", wanted.expose); !done) return done.error();
  confine::add_system(wanted);
  for (const auto& variable : request.environment) {
    constexpr std::string_view path = "PATH=";
    if (!variable.starts_with(path)) continue;
    for (const auto& program : request.programs) {
      confine::add_programs(variable.substr(path.size()), program, wanted);
    }
  }
  // Only root may enter root's home, so programs there are not reachable.
  std::erase_if(wanted.programs,
                [](const auto& place) { return confine::is_within(place, root_home); });
  if (auto done = confine::add_sockets(request.environment, wanted); !done) return done.error();
  return Result<confine::PlanRequest>{boost::system::in_place_value, std::move(wanted)};
}

Result<void> require_fence(FenceHost& host, const FenceRecord& record) {
  const auto fence = inspect_fence(host);
  if (!fence) return fence.error();
  const auto state = inspect(host, record);
  if (!state) return state.error();
  if (fence->is_whole() && state->has_devices && state->is_device_shut && state->is_admitted) {
    return {};
  }
  return Error{"the fence is not whole; see `stile-netns check`, run `stile-netns repair`"};
}

// Gives up root inside, and with it every capability.
Result<void> become_user(id_t user) {
  if (::setgroups(0, nullptr) != 0 || ::setresgid(user, user, user) != 0 ||
      ::setresuid(user, user, user) != 0) {
    return system_error("cannot become user " + std::to_string(user) + " inside");
  }
  return {};
}

}  // namespace

Result<NamespaceEntry> prepare_entry(FenceHost& host, const EntryRequest& request) {
  const auto record = host.records.find(request.id);
  if (!record) return record.error();
  if (!*record || !(*record)->is_complete)
    return Error{"there is no agent " + in_quotes(request.id) + "; stile-netns list shows all"};
  if (auto fence = require_fence(host, **record); !fence) return fence.error();
  auto network = open_namespace(request.id);
  if (!network) return network.error();
  if (!*network) return Error{"there is no namespace " + namespace_path(request.id)};
  auto user = owner_of(**network);
  if (!user) return user.error();
  const auto& settings = host.setup.netns;
  const auto uids = uid_range(settings.subnet, (*record)->agent.address);
  if (!uids) return uids.error();
  const auto wanted = make_request(host.setup, request);
  if (!wanted) return wanted.error();
  auto view = confine::plan_view(*wanted);
  if (!request.directory_at.empty() && view.directory != request.directory_at) {
    return Error{"workspace " + request.directory +
                 " holds a home, or belongs to the system, and cannot be shown"};
  }
  if (is_captured(host.setup.netns, (*record)->agent)) {
    confine::show_name_files(resolver_text(host.setup.netns), view);
  }
  auto writable = wanted->write;
  if (request.workspace == confine::Workspace::writable) {
    writable.push_back(request.directory_at.empty() ? wanted->directory : request.directory_at);
  }
  auto agent = agent_trust(host.setup.control, request.id);
  if (agent.is_unknown && request.must_be_known) {
    return Error{"the daemon refused the card of " + request.id + ": see `stile status`"};
  }
  if (!agent.problem.empty()) std::fprintf(stderr, "stile-netns: %s\n", agent.problem.c_str());
  const auto proxy = proxy_url(settings);
  const auto& given = request.environment;
  auto trust = confine::plan_trust(confine::read_trust(agent.ca, given), given, proxy);
  auto more = std::move(agent.variables);
  more.insert(more.end(), trust.variables.begin(), trust.variables.end());
  const auto owner = uids->first + request.user;
  confine::ViewRequest shown{std::move(view), {owner, owner}, {}, request.own_bytes};
  shown.own_files = std::move(trust.files);
  return NamespaceEntry{
      std::move(**network),
      std::move(*user),
      std::move(shown),
      request.id,
      request.user,
      request.home,
      confine::agent_environment({given, proxy, request.home, wanted->expose, writable, more})};
}

// The order matters: first the mounts, while we have the privileges, then the user namespace, then
// a copy of the mounts that its root cannot undo, then its user ids.
Result<void> become_agent(const NamespaceEntry& entry) {
  if (::setns(entry.network.get(), CLONE_NEWNET) != 0) {
    return system_error("cannot enter the network namespace");
  }
  // Slave: an unmount on the host also applies here, or a deleted namespace would stay alive.
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_SLAVE | MS_REC, nullptr) != 0) {
    return system_error("cannot make a mount namespace");
  }
  if (const auto made = confine::make_view(entry.view); !made) return made.error();
  if (::setns(entry.user_namespace.get(), CLONE_NEWUSER) != 0) {
    return system_error("cannot enter the user namespace");
  }
  if (::unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP) != 0) {
    return system_error("cannot make the namespaces");
  }
  if (auto done = become_user(0); !done) return done;
  if (::sethostname(entry.hostname.data(), entry.hostname.size()) != 0) {
    return system_error("cannot set the host name");
  }
  if (entry.user != 0) {
    if (auto done = become_user(entry.user); !done) return done;
  }
  // After the change of user, which clears this setting.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    return system_error("cannot ask to be ended with the parent process");
  const auto& directory = entry.view.view.directory;
  if ((directory.empty() || ::chdir(directory.c_str()) != 0) && ::chdir(entry.home.c_str()) != 0 &&
      ::chdir("/") != 0) {
    return system_error("cannot change to /");
  }
  return confine::give_up(entry.user == 0 ? confine::Powers::all_inside : confine::Powers::none);
}

}  // namespace stile::netns
