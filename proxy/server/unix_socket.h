// A listening unix socket, in the place of one that nobody serves any more.
#pragma once

#include <sys/types.h>

#include <string>

#include "acl/result.h"
#include "proxy/base/unique_fd.h"

namespace stile::server {

// Who may connect: whoever may write to the socket's file.
struct UnixAccess {
  mode_t mode = 0660;
  std::string group;  // "": the group that the process has
};

// `name` is for people. A socket that somebody serves is left alone, and an error. The file has its
// mode and group from the first moment, and nothing is done to it by its path: whoever owns the
// folder could put something else there.
[[nodiscard]] Result<UniqueFd> bind_unix(const std::string& path, const UnixAccess& access,
                                         const std::string& name);

}  // namespace stile::server
