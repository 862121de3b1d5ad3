// worker: starts a worker, then hands over to its keeper.
#include "netns/worker.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/local_socket.h"
#include "base/system_error.h"
#include "confine/paths.h"
#include "confine/place.h"
#include "confine/supervise.h"
#include "netns/adopt.h"
#include "netns/entry.h"
#include "netns/keeper.h"
#include "netns/task_channel.h"
#include "netns/watch.h"
#include "netns/worker_inside.h"

namespace stile::netns {
namespace {

constexpr const char* default_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

confine::Workspace workspace_of(config::WorkspaceAccess access) {
  using enum config::WorkspaceAccess;
  return access == write  ? confine::Workspace::writable
         : access == read ? confine::Workspace::read_only
                          : confine::Workspace::none;
}

EntryRequest entry_of(const worker::WorkerFile& file) {
  EntryRequest entry;
  entry.id = file.id;
  for (const auto* command : {&file.command, &file.task}) {
    if (!command->empty()) entry.programs.push_back(command->front());
  }
  entry.must_be_known = true;
  entry.read = file.read;
  entry.write = file.write;
  entry.directory = file.workspace;
  entry.directory_at = worker_directory;
  entry.workspace = workspace_of(file.workspace_access);
  entry.home = worker_home;
  entry.user = worker_user;
  entry.own_bytes = file.disk_mb << 20U;
  // Nothing of our own variables: they belong to a service of root.
  std::vector<config::Variable> variables{{"PATH", default_path}, {"LANG", "C.UTF-8"},
                                          {"SHELL", "/bin/sh"},   {"USER", "agent"},
                                          {"LOGNAME", "agent"},   {"AGENT_ID", file.id}};
  for (const auto& own : file.environment) {
    std::erase_if(variables, [&](const auto& one) { return one.name == own.name; });
    variables.push_back(own);
  }
  for (const auto& one : variables) entry.environment.push_back(one.name + '=' + one.value);
  return entry;
}

// Standard output and error belong to the journal, where only the keeper writes.
Result<void> close_journal() {
  const UniqueFd nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  if (!nothing || ::dup2(nothing.get(), STDOUT_FILENO) < 0 ||
      ::dup2(nothing.get(), STDERR_FILENO) < 0) {
    return system_error("/dev/null");
  }
  return {};
}

// systemd controls no processes in some containers. Each worker has a user of its own, so that this
// limits it alone. It is no property of the unit: the keeper makes the user namespace, which takes
// over the limits of its maker, and for that the kernel counts all processes of the host's root.
Result<void> limit_processes(std::uint64_t count) {
  if (count == 0) return {};
  rlimit limit{};
  if (::getrlimit(RLIMIT_NPROC, &limit) != 0) return system_error("cannot read the limits");
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, count + 1);  // the first process counts
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NPROC, &limit) != 0) return system_error("cannot limit the processes");
  return {};
}

int first_process(const NamespaceEntry& entry, const worker::WorkerFile& file,
                  const UniqueFd& channel, const sigset_t& mask) {
  const auto fail = [](const Error& error) {
    std::fprintf(stderr, "stile-netns: %s\n", error.message.c_str());
    return confine::own_failure;
  };
  if (::dup2(channel.get(), STDIN_FILENO) < 0) return fail(system_error("dup2"));
  if (const auto done = limit_processes(file.max_processes); !done) return fail(done.error());
  if (const auto done = become_agent(entry); !done) return fail(done.error());
  if (const auto done = close_journal(); !done) return fail(done.error());
  return serve_inside({file.command, file.task, entry.environment, mask});
}

}  // namespace

Result<int> keep_worker(FenceHost& host, const worker::WorkerFile& file) {
  const auto record = host.records.find(file.id);
  if (!record) return record.error();
  if (!*record || (*record)->agent.instance != file.instance) {
    return Error{"the namespace of worker " + file.id + " is missing or not its own"};
  }
  const auto uids = uid_range(host.setup.netns.subnet, (*record)->agent.address);
  if (!uids) return uids.error();
  const uid_t owner = uids->first + worker_user;
  if (auto done = adopt_workspace(file.workspace, file.caller, owner); !done) return done.error();
  const auto place = confine::open_place(file.workspace);
  UniqueFd workspace{place ? ::openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1};
  if (!workspace) return system_error("workspace " + file.workspace);
  for (const auto* paths : {&file.read, &file.write}) {
    for (const auto& one : *paths) {
      if (one == file.workspace || !confine::is_within(one, file.workspace)) continue;
      if (auto done = make_missing(file.workspace, one, owner); !done) return done.error();
    }
  }
  const auto entry = prepare_entry(host, entry_of(file));
  if (!entry) return entry.error();
  auto channel = socket_pair(SOCK_SEQPACKET);
  if (!channel) return channel.error();
  auto& [outside, inside] = *channel;
  const auto mask = confine::block_signals();
  if (::unshare(CLONE_NEWPID) != 0) return system_error("cannot make a PID namespace");
  const pid_t child = ::fork();
  if (child < 0) return system_error("cannot fork");
  if (child == 0) {
    outside.reset();
    ::_exit(first_process(*entry, file, inside, mask));
  }
  inside.reset();
  const auto report = receive_report(outside.get());
  if (!report || report->kind != TaskReport::Kind::ready) {
    return Error{"the worker could not be set up"};
  }
  auto keeper = Keeper::make(file, {std::move(outside), child, owner, std::move(workspace)});
  if (!keeper) return keeper.error();
  notify_systemd();
  return (*keeper)->keep();
}

}  // namespace stile::netns
