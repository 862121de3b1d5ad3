// mounts: detached file systems and copies of trees, by descriptor.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "base/unique_fd.h"

namespace stile::confine {

using MountOption = std::pair<const char*, std::string>;

// A new file system. `attributes`: MOUNT_ATTR_…. Empty with errno set if the kernel refuses.
[[nodiscard]] UniqueFd new_file_system(const char* type, unsigned attributes,
                                       std::initializer_list<MountOption> options = {});

// A copy of the mounts at and below a path. Links are not followed: the path is a descriptor.
[[nodiscard]] UniqueFd copy_tree(int place);

// For the whole tree; attributes can only be added.
[[nodiscard]] bool restrict_tree(int tree, unsigned attributes);
// For this mount only, not for mounts below it.
[[nodiscard]] bool restrict_mount(int mount, unsigned attributes);

[[nodiscard]] bool attach(int tree, int place);

}  // namespace stile::confine
