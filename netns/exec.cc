// exec: runs a command as an agent.
#include "netns/exec.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/system_error.h"
#include "confine/supervise.h"
#include "netns/entry.h"

namespace stile::netns {
namespace {

EntryRequest entry_of(const ExecRequest& request) {
  EntryRequest entry;
  entry.id = request.id;
  entry.programs = {request.command[0]};
  entry.read = request.read;
  entry.write = request.write;
  entry.expose = request.expose;
  entry.has_host_files = request.has_host_files;
  std::error_code failed;
  entry.directory = std::filesystem::current_path(failed).string();
  if (failed) entry.directory = "/";
  for (char** variable = environ; *variable != nullptr; ++variable) {
    entry.environment.emplace_back(*variable);
  }
  return entry;
}

// The first process of the PID namespace: when it ends, the kernel kills all others.
int first_process(const NamespaceEntry& entry, const std::vector<std::string>& command,
                  const sigset_t& mask) {
  if (const auto done = become_agent(entry); !done) {
    std::fprintf(stderr, "stile-netns: %s\n", done.error().message.c_str());
    return confine::own_failure;
  }
  const pid_t child = ::fork();
  if (child == 0) ::_exit(confine::become(command, entry.environment, mask));
  return child < 0 ? confine::own_failure : confine::supervise({child});
}

}  // namespace

Result<int> exec_as(FenceHost& host, const ExecRequest& request) {
  const auto entry = prepare_entry(host, entry_of(request));
  if (!entry) return entry.error();
  const auto mask = confine::block_signals();
  if (::unshare(CLONE_NEWPID) != 0) return system_error("cannot make a PID namespace");
  const pid_t child = ::fork();
  if (child < 0) return system_error("cannot fork");
  if (child == 0) ::_exit(first_process(*entry, request.command, mask));
  return confine::supervise({child});
}

}  // namespace stile::netns
