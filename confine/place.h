// place: opens and creates paths of a file tree without following links.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::confine {

// An O_PATH descriptor of an absolute path, below `root` if one is given. Fails with ELOOP if a
// component is a link.
[[nodiscard]] UniqueFd open_place(const std::string& path, int root = -1);

// Refuses a path that contains a link, and advises the real path. A path that does not exist
// contains no link. `what` begins the error.
[[nodiscard]] Result<void> refuse_links(const std::string& path, const std::string& what);

// Like open_place, but creates what is missing: directories, and at the end a directory or a file.
[[nodiscard]] UniqueFd make_place(int root, const std::string& path, bool is_directory);

// Whether a directory has no entries; false if it cannot be read.
[[nodiscard]] bool is_empty(int directory);

}  // namespace stile::confine
