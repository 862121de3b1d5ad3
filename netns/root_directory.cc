// A directory that only root can write.
#include "netns/root_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/system_error.h"

namespace stile::netns {

Result<UniqueFd> open_directory(const std::string& path, mode_t mode, gid_t group) {
  const bool is_new = ::mkdir(path.c_str(), mode) == 0;
  if (!is_new && errno != EEXIST) return system_error("cannot make " + path);
  UniqueFd fd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!fd) return system_error("cannot open " + path);
  if (is_new && (::fchown(fd.get(), 0, group) != 0 || ::fchmod(fd.get(), mode) != 0)) {
    return system_error("cannot set the owner of " + path);
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return system_error(path);
  if (status.st_uid != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Error{path + ": others than root can write it; make it: chown root:root, chmod 0755"};
  }
  return fd;
}

}  // namespace stile::netns
