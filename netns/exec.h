// exec: runs a command as an agent.
#pragma once

#include <string>
#include <vector>

#include "acl/result.h"
#include "netns/host.h"

namespace stile::netns {

struct ExecRequest {
  std::string id;
  std::vector<std::string> command;
  std::vector<std::string> read, write;  // paths that are seen beside the system
  std::vector<std::string> expose;       // paths that are seen with the sockets in them
  bool has_host_files = false;           // all of the host's files, as far as they are not hidden
};

// Root inside: all capabilities in the agent's user namespace and none outside of it, in PID,
// mount, IPC and UTS namespaces of its own. Refuses if the fence is not whole. Ends with the
// command, and everything that the command left running ends with it. Returns the exit status; an
// error is our own failure, with nothing run.
[[nodiscard]] Result<int> exec_as(Host& host, const ExecRequest& request);

}  // namespace stile::netns
