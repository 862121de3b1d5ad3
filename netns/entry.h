// entry: the way from the host's root into an agent's namespaces and its view of the files.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "confine/view.h"
#include "netns/host.h"

namespace stile::netns {

// What an agent's processes see and who they are.
struct EntryRequest {
  std::string id;
  std::vector<std::string> programs;     // commands that must be visible
  std::vector<std::string> read, write;  // paths that are visible beside the system
  std::vector<std::string> expose;       // paths that are visible with the sockets in them
  bool must_be_known = false;            // the daemon, if there is one, has to know the agent
  bool has_host_files = false;           // all of the host's files except hidden ones
  std::string directory;                 // where they start
  std::string directory_at;              // it is shown there; "": at its own path
  confine::Workspace workspace = confine::Workspace::writable;
  std::string home = "/root";            // becomes an empty directory
  id_t user = 0;                         // user and group inside; not 0: without capabilities
  std::uint64_t own_bytes = 0;           // size of each directory made for them; 0: no limit
  std::vector<std::string> environment;  // the given variables
};

// Everything needed from here on, collected while we are still the host's root in its namespaces.
struct NamespaceEntry {
  UniqueFd network, user_namespace;
  confine::ViewRequest view;
  std::string hostname;
  id_t user = 0;
  std::string home;
  std::vector<std::string> environment;  // with the proxy's variables
};

// Refuses if the agent does not exist or if its fence is not intact.
[[nodiscard]] Result<NamespaceEntry> prepare_entry(FenceHost& host, const EntryRequest& request);

// For the first process of a new PID namespace: changes from the host's root to the agent.
[[nodiscard]] Result<void> become_agent(const NamespaceEntry& entry);

}  // namespace stile::netns
