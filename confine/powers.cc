// powers: what a process gives up before it becomes a confined command.
#include "confine/powers.h"

#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/system_error.h"
#include "confine/seccomp.h"

namespace stile::confine {
namespace {

Result<void> drop_all_capabilities() {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0)
    return system_error("cannot drop capabilities");
  return {};
}

// An open directory leads to all of the host's files, whatever the view has.
Result<void> refuse_directories() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
      return Error{"descriptor " + std::to_string(fd) +
                   " is a directory, from which the command could reach all files of the host"};
    }
  }
  return {};
}

// If core_pattern is a pipe, the kernel starts a program of the host, as root and out there, for
// each crash inside. It does not if this limit is 1 (core(5)); then it writes no file either. Where
// the limit is 0 already, it cannot be raised.
void forbid_core_dumps() {
  const rlimit one{1, 1};
  ::setrlimit(RLIMIT_CORE, &one);
}

}  // namespace

Result<void> give_up(Powers left) {
  if (auto done = refuse_directories(); !done) return done;
  forbid_core_dumps();
  // Replaces the caller's session keyring: a process that possesses it can use its keys.
  ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  if (left == Powers::none) {
    if (auto done = drop_all_capabilities(); !done) return done;
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error("no_new_privs");
  // The memory of the first process inside contains data that the command must not see.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return system_error("cannot close our memory");
  if (::syscall(SYS_close_range, 3U, ~0U, 0U) != 0) return system_error("cannot close descriptors");
  return refuse_calls(refused_calls());
}

}  // namespace stile::confine
