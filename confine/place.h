// place: opens and makes places of a file tree without following a link.
#pragma once

#include <string>

#include "acl/result.h"
#include "proxy/base/unique_fd.h"

namespace stile::confine {

// An O_PATH descriptor of the place that an absolute path leads to, below `root` if one is given.
// Fails with ELOOP if a part of it is a link.
[[nodiscard]] UniqueFd open_place(const std::string& path, int root = -1);

// Refuses a path that leads over a link, with its real place as advice. A path that does not exist
// has no link in it. `what` begins the error.
[[nodiscard]] Result<void> refuse_links(const std::string& path, const std::string& what);

// As open_place, and makes what is missing: directories, and at the end a directory or a file.
[[nodiscard]] UniqueFd make_place(int root, const std::string& path, bool is_directory);

}  // namespace stile::confine
