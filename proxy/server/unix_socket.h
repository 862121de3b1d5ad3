// A listening unix socket that replaces a stale one, which no process serves.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::server {

// Who may connect: every process that may write to the socket's file.
struct UnixAccess {
  mode_t mode = 0660;
  std::string group;  // "": the group of the process
  bool takes_descriptors = false;
};

// `name` is for people. A socket that is in use is left alone and is an error. The file has its
// mode and group from the first moment, and nothing is done to it by its path: the owner of the
// folder could replace it.
[[nodiscard]] Result<UniqueFd> bind_unix(const std::string& path, const UnixAccess& access,
                                         const std::string& name);

}  // namespace stile::server
