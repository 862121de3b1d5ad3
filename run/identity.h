// identity: the user that the command runs as.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace stile::run {

struct Identity {
  uid_t uid = 0;  // the same number inside and outside
  gid_t gid = 0;
  bool is_changed = false;  // root called, and the command runs as another user
  std::string name, home;   // of that user, for the environment
};

// The caller. For root: the owner of the directory, or the user `nobody` if root owns it, since
// host root is never mapped.
[[nodiscard]] Identity choose_identity(const std::string& directory);

// Maps that one id in the user namespace of a child.
[[nodiscard]] Result<void> map_ids(pid_t child, const Identity& identity);

// Gives up root permanently, in either namespace; does nothing if the id is already ours.
[[nodiscard]] Result<void> assume(const Identity& identity);

}  // namespace stile::run
