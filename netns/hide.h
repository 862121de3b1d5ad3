// hide: what of the host's file system a command of an agent sees.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "acl/result.h"

namespace stile::netns {

// A directory, or a file, of which the command sees an empty one in its place.
struct Hidden {
  std::string path;
  mode_t mode = 0755;
  friend bool operator==(const Hidden&, const Hidden&) = default;
};

struct View {
  std::uint32_t root_uid = 0;        // whose the empty directories are
  std::vector<Hidden> hidden;        // those that do not exist are passed over
  std::vector<std::string> exposed;  // paths that are seen nevertheless
};

// All of /run with its sockets (control, D-Bus, docker, resolvers that look up names for anyone),
// everything of Stile's own, and the directories that all users share: a socket in /tmp is a way
// from one agent to another.
[[nodiscard]] std::vector<Hidden> usually_hidden();

// For a process that is the first of a new PID namespace and in the agent's network namespace, but
// still root of the host: makes a mount namespace with a /proc and a /sys of those. What is mounted
// here cannot be taken away by the agent: its own mount namespace is made from this one afterwards,
// by less privileged hands, and the kernel locks what such a copy inherits.
[[nodiscard]] Result<void> mount_view(const View& view);

}  // namespace stile::netns
