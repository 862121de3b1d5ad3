// covers: empty files and directories that are mounted over paths to hide them.
#include "confine/covers.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/files.h"
#include "base/system_error.h"
#include "confine/mounts.h"
#include "confine/place.h"

namespace stile::confine {

std::string mode_text(mode_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%o", mode);
  return text.data();
}

Result<Covers> Covers::make(int top) {
  UniqueFd stage =
      new_file_system("tmpfs", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, {{"mode", "755"}});
  // With this mode connect(2) reports that the file is not a socket.
  if (!stage || ::mkdirat(stage.get(), "directory", 0555) != 0 ||
      !UniqueFd{::openat(stage.get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0666)} ||
      !attach(stage.get(), top)) {
    return system_error("cannot mount a file system");
  }
  return Covers{std::move(stage)};
}

Result<void> Covers::cover(int place, const std::string& path, bool is_directory) const {
  const auto source = open_place(is_directory ? "/directory" : "/file", stage_.get());
  UniqueFd empty;
  if (source) empty = copy_tree(source.get());
  if (!empty ||
      !restrict_tree(empty.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY) ||
      !attach(empty.get(), place)) {
    return system_error("cannot hide " + path);
  }
  return {};
}

Result<void> Covers::put_text(int place, const std::string& path, const std::string& text) const {
  std::string name = path;
  std::replace(name.begin(), name.end(), '/', '-');
  const UniqueFd file{
      ::openat(stage_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444)};
  UniqueFd shown;
  if (file && write_all(file.get(), text)) {
    if (const auto source = open_place('/' + name, stage_.get())) shown = copy_tree(source.get());
  }
  if (!shown ||
      !restrict_tree(shown.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY) ||
      !attach(shown.get(), place)) {
    return system_error("cannot show " + path);
  }
  return {};
}

}  // namespace stile::confine
