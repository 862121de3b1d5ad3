// exec: runs a command as an agent.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "netns/host.h"

namespace stile::netns {

struct ExecRequest {
  std::string id;
  std::vector<std::string> command;
  std::vector<std::string> read, write;  // paths that are visible beside the system
  std::vector<std::string> expose;       // paths that are visible with the sockets in them
  bool has_host_files = false;           // all of the host's files except hidden ones
};

// Runs as root inside: all capabilities in the agent's user namespace and none outside, in separate
// PID, mount, IPC and UTS namespaces. Refuses if the fence is not intact. Ends with the command,
// and ends all processes that the command left running. Returns the exit status; an error is our
// own failure, and the command did not run.
[[nodiscard]] Result<int> exec_as(FenceHost& host, const ExecRequest& request);

}  // namespace stile::netns
