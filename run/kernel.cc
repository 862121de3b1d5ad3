// kernel: explains why the kernel refuses namespaces.
#include "run/kernel.h"

#include <cerrno>
#include <fstream>

#include "base/system_error.h"

namespace stile::run {
namespace {

// The value of a sysctl; -1: this kernel does not have it.
long sysctl(const std::string& name) {
  std::string path = "/proc/sys/" + name;
  for (char& c : path) {
    if (c == '.') c = '/';
  }
  std::ifstream file{path};
  long value = -1;
  file >> value;
  return file ? value : -1;
}

std::string settings_that_forbid() {
  std::string found;
  const auto note = [&](const std::string& name, const char* better) {
    found += (found.empty() ? "" : "; ") + std::string{"set "} + name + '=' + better;
  };
  if (sysctl("kernel.unprivileged_userns_clone") == 0) {
    note("kernel.unprivileged_userns_clone", "1");
  }
  if (sysctl("kernel.apparmor_restrict_unprivileged_userns") == 1) {
    note("kernel.apparmor_restrict_unprivileged_userns", "0, or give stile an AppArmor profile");
  }
  for (const auto* kind : {"user", "net", "pid", "mnt", "ipc", "uts", "cgroup"}) {
    const auto name = "user.max_" + std::string{kind} + "_namespaces";
    if (sysctl(name) == 0) note(name, "1000 or more");
  }
  return found;
}

}  // namespace

Error refused_namespace(const std::string& what, int code) {
  auto error = system_error(what, code);
  const auto settings = settings_that_forbid();
  if (!settings.empty()) return {error.message + "\nstile: " + settings + " (see sysctl(8))"};
  switch (code) {
    case ENOSPC:
    case EUSERS:
      error.message +=
          "\nstile: there are too many namespaces, or too many inside each other; see"
          " user.max_user_namespaces";
      break;
    case EPERM:
    case EACCES:
      error.message +=
          "\nstile: user namespaces are forbidden here; see kernel.unprivileged_userns_clone,"
          " user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns, and in a"
          " container its seccomp profile";
      break;
    case EINVAL:
      error.message += "\nstile: this kernel is built without one of the namespaces";
      break;
    default:
      break;
  }
  return error;
}

}  // namespace stile::run
