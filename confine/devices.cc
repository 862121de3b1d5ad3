// devices: a /dev with the few devices that every program expects.
#include "confine/devices.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/system_error.h"
#include "confine/mounts.h"
#include "confine/place.h"

namespace stile::confine {
namespace {

// The terminal's name on the host, if that name refers to it.
std::string name_of_terminal() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    std::array<char, 128> name{};
    struct stat open {
    }, named{};
    if (::ttyname_r(fd, name.data(), name.size()) == 0 && ::fstat(fd, &open) == 0 &&
        ::stat(name.data(), &named) == 0 && open.st_rdev == named.st_rdev &&
        open.st_ino == named.st_ino && open.st_dev == named.st_dev) {
      return name.data();
    }
  }
  return {};
}

bool show_device(int directory, const std::string& from, const std::string& name) {
  const auto device = open_place(from);
  if (!device) return false;
  const auto copy = copy_tree(device.get());
  const auto place = make_place(directory, "/" + name, false);
  return copy && place && restrict_tree(copy.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC) &&
         attach(copy.get(), place.get());
}

}  // namespace

Result<void> make_devices(int place) {
  const auto directory =
      new_file_system("tmpfs", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, {{"mode", "755"}});
  if (!directory || !attach(directory.get(), place)) return system_error("cannot mount /dev");
  for (const std::string name : {"null", "zero", "full", "random", "urandom", "tty"}) {
    if (!show_device(directory.get(), "/dev/" + name, name)) {
      return system_error("cannot show /dev/" + name);
    }
  }
  if (const auto terminal = name_of_terminal(); !terminal.empty()) {
    static_cast<void>(show_device(directory.get(), terminal, "console"));
  }
  const auto terminals = new_file_system("devpts", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
                                         {{"ptmxmode", "666"}, {"mode", "620"}});
  const auto pts = make_place(directory.get(), "/pts", true);
  if (!terminals || !pts || !attach(terminals.get(), pts.get())) {
    return system_error("cannot mount /dev/pts");
  }
  constexpr std::array<std::array<const char*, 2>, 5> links{{{"pts/ptmx", "ptmx"},
                                                             {"/proc/self/fd", "fd"},
                                                             {"/proc/self/fd/0", "stdin"},
                                                             {"/proc/self/fd/1", "stdout"},
                                                             {"/proc/self/fd/2", "stderr"}}};
  for (const auto& [text, name] : links) {
    if (::symlinkat(text, directory.get(), name) != 0) return system_error("cannot fill /dev");
  }
  // Mount point for /dev/shm.
  if (!make_place(directory.get(), "/shm", true)) return system_error("cannot fill /dev");
  return {};
}

}  // namespace stile::confine
