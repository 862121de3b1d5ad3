// Landlock: which files the daemon may open by name, under every user.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stile::server {

// Both return false if the kernel has no Landlock, and need no_new_privs.
// Everything may be read (a reload may name a list anywhere), nothing executed. Only files below
// these directories may be written; missing directories are left out.
[[nodiscard]] Result<bool> landlock_process(const std::vector<std::string>& writable_directories);
// The calling thread opens nothing by name, binds no TCP port, signals no process outside.
[[nodiscard]] Result<bool> landlock_worker();

}  // namespace stile::server
