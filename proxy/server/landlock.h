// Landlock: which files the daemon may touch by name, whoever it runs as.
#pragma once

#include <string>
#include <vector>

#include "acl/result.h"

namespace stile::server {

// Both return false if the kernel has no Landlock, and need no_new_privs.
// Everything may be read (a reload may name a list anywhere), nothing executed, and written only
// below these directories; one that is not there is left out.
[[nodiscard]] Result<bool> landlock_process(const std::vector<std::string>& writable_directories);
// The calling thread opens nothing by name, binds no TCP port, signals nobody outside.
[[nodiscard]] Result<bool> landlock_worker();

}  // namespace stile::server
