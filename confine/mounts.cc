// mounts: detached file systems and copies of trees, by descriptor.
#include "confine/mounts.h"

#include <fcntl.h>
#include <sys/mount.h>

namespace stile::confine {
namespace {

bool set_attributes(int mount, unsigned attributes, unsigned flags) {
  mount_attr wanted{};
  wanted.attr_set = attributes;
  return ::mount_setattr(mount, "", AT_EMPTY_PATH | flags, &wanted, sizeof wanted) == 0;
}

}  // namespace

UniqueFd new_file_system(const char* type, unsigned attributes,
                         std::initializer_list<MountOption> options) {
  const UniqueFd context{::fsopen(type, FSOPEN_CLOEXEC)};
  if (!context) return {};
  for (const auto& [name, value] : options) {
    if (::fsconfig(context.get(), FSCONFIG_SET_STRING, name, value.c_str(), 0) != 0) return {};
  }
  if (::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return {};
  return UniqueFd{::fsmount(context.get(), FSMOUNT_CLOEXEC, attributes)};
}

UniqueFd copy_tree(int place) {
  return UniqueFd{
      ::open_tree(place, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH)};
}

bool restrict_tree(int tree, unsigned attributes) {
  return set_attributes(tree, attributes, AT_RECURSIVE);
}

bool restrict_mount(int mount, unsigned attributes) { return set_attributes(mount, attributes, 0); }

bool attach(int tree, int place) {
  return ::move_mount(tree, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

}  // namespace stile::confine
