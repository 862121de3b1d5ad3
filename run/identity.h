// identity: as whom the command runs.
#pragma once

#include <sys/types.h>

#include <string>

#include "acl/result.h"

namespace stile::run {

struct Identity {
  uid_t uid = 0;  // the same number inside and outside
  gid_t gid = 0;
  bool is_changed = false;  // root called, and the command is somebody else
  std::string name, home;   // of that somebody, for the environment
};

// Whoever calls. For root: the owner of the working directory, or nobody if that is root, too,
// since host root is never mapped.
[[nodiscard]] Identity choose_identity();

// Lets that one id exist in the user namespace of a child.
[[nodiscard]] Result<void> map_ids(pid_t child, const Identity& identity);

// Gives up root for good, in either namespace; nothing if it is ours already.
[[nodiscard]] Result<void> assume(const Identity& identity);

}  // namespace stile::run
