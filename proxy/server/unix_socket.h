// A listening unix socket, in the place of one that nobody serves any more.
#pragma once

#include <string>

#include "acl/result.h"
#include "proxy/base/unique_fd.h"

namespace stile::server {

// `name` is for people. A socket that somebody serves is left alone, and an error.
[[nodiscard]] Result<UniqueFd> bind_unix(const std::string& path, const std::string& name);

}  // namespace stile::server
