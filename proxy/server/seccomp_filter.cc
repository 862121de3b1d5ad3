// The system calls that the daemon may make, as lists for libseccomp.
//
// A call on no list fails with EPERM, so that a library which tries something optional continues
// without it. A call that only an attacker inside the daemon would make ends the process.
#include "proxy/server/seccomp_filter.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "base/sanitized.h"
#include "base/system_error.h"

namespace stile::server {
namespace {

// Other programs, memory of other processes, other namespaces, other rules for this process.
constexpr std::string_view deadly_calls =
    "execve execveat process_vm_readv process_vm_writev pidfd_getfd kcmp unshare setns mount "
    "umount2 pivot_root chroot open_tree move_mount fsopen fsmount mount_setattr "
    "open_by_handle_at init_module finit_module delete_module kexec_load kexec_file_load bpf "
    "perf_event_open userfaultfd io_uring_setup keyctl add_key request_key setuid setreuid "
    "setresuid setgid setregid setresgid setgroups capset reboot iopl ioperm modify_ldt "
    "clock_settime settimeofday acct swapon sethostname quotactl";

// Calls for serving: open descriptors, sockets, memory, time.
constexpr std::string_view serving_calls =
    "read write readv writev recvfrom recvmsg sendto sendmsg splice tee close shutdown "
    "connect accept4 getsockname getpeername getsockopt setsockopt pipe2 eventfd2 lseek "
    "fstat epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 poll ppoll "
    "timerfd_create timerfd_settime munmap mremap madvise brk futex sched_yield "
    "sched_getaffinity getcpu membarrier rseq set_robust_list clock_gettime clock_getres "
    "clock_nanosleep nanosleep gettimeofday time getrandom getpid gettid rt_sigprocmask "
    "rt_sigaction rt_sigreturn sigaltstack restart_syscall exit exit_group";

// Further calls of the main thread: reading config, lists and cards; the log, the state, inotify;
// the control socket, the metrics page, the host's addresses; starting threads and their filter.
constexpr std::string_view managing_calls =
    "open openat openat2 stat lstat newfstatat statx statfs fstatfs access faccessat "
    "faccessat2 readlink readlinkat getdents64 getcwd pread64 pwrite64 preadv pwritev rename "
    "renameat renameat2 unlink unlinkat mkdir mkdirat rmdir truncate ftruncate fallocate "
    "fsync fdatasync flock umask chmod fchmod fchmodat chown fchown fchownat utimensat "
    "fadvise64 sendfile copy_file_range inotify_init1 inotify_add_watch inotify_rm_watch "
    "fcntl dup dup2 dup3 close_range bind accept socketpair recvmmsg sendmmsg select "
    "pselect6 timerfd_gettime signalfd4 mmap mprotect mincore prctl seccomp "
    "landlock_create_ruleset landlock_add_rule landlock_restrict_self set_tid_address "
    "sched_setaffinity sched_getparam sched_getscheduler arch_prctl uname sysinfo getuid "
    "geteuid getgid getegid getresuid getresgid getgroups getppid capget getrlimit prlimit64 "
    "getrusage times alarm rt_sigpending rt_sigtimedwait rt_sigsuspend";

// The leak check at the end of a sanitizer build stops all threads from a helper process.
constexpr std::string_view sanitizer_calls = "ptrace clone wait4 getdents";

// Collects rules; load() reports the first one that libseccomp refuses.
class Filter {
 public:
  Filter() : context_{::seccomp_init(SCMP_ACT_ERRNO(EPERM)), &::seccomp_release} {
    if (!context_) return;
    // A binary search instead of sixty comparisons; the kernel caches calls without argument
    // checks.
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  }

  void allow(std::string_view calls) { add_all(SCMP_ACT_ALLOW, calls); }
  void kill(std::string_view calls) { add_all(SCMP_ACT_KILL_PROCESS, calls); }
  void allow(int call, const scmp_arg_cmp& argument) { add(SCMP_ACT_ALLOW, call, {argument}); }
  void refuse(int call, int error) {
    add(SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)), call, {});
  }

  [[nodiscard]] Result<void> load() {
    if (!context_) return Error{"seccomp: no memory"};
    if (problem_ == 0) problem_ = ::seccomp_load(context_.get());
    if (problem_ != 0) return Error{"seccomp: " + error_text(-problem_)};
    return {};
  }

 private:
  void add_all(std::uint32_t action, std::string_view names) {
    std::istringstream words{std::string{names}};
    for (std::string name; words >> name;) {
      const int call = ::seccomp_syscall_resolve_name(name.c_str());
      if (call == __NR_SCMP_ERROR) problem_ = -EINVAL;
      add(action, call, {});
    }
  }
  void add(std::uint32_t action, int call, std::initializer_list<scmp_arg_cmp> arguments) {
    if (!context_ || problem_ != 0) return;
    problem_ = ::seccomp_rule_add_array(context_.get(), action, call,
                                        static_cast<unsigned>(arguments.size()), arguments.begin());
  }

  std::unique_ptr<void, decltype(&::seccomp_release)> context_;
  int problem_ = 0;
};

scmp_arg_cmp equals(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}
// Of the bits in the mask exactly these are set.
scmp_arg_cmp has_bits(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

void allow_abort(Filter& filter) {
  filter.allow(SCMP_SYS(tgkill), equals(0, static_cast<std::uint64_t>(::getpid())));
}

}  // namespace

Result<void> filter_process() {
  constexpr std::uint64_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                       CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  Filter filter;
  filter.kill(deadly_calls);
  filter.allow(serving_calls);
  filter.allow(managing_calls);
  for (const int domain : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK}) {
    filter.allow(SCMP_SYS(socket), equals(0, static_cast<std::uint64_t>(domain)));
  }
  for (const int request : {FIONBIO, FIONREAD, TCGETS, TIOCGWINSZ, SIOCGIFINDEX, SIOCGIFNAME}) {
    filter.allow(SCMP_SYS(ioctl), equals(1, static_cast<std::uint64_t>(request)));
  }
  // Threads, but no processes. The filter cannot see the arguments of clone3; libc then uses clone.
  filter.refuse(SCMP_SYS(clone3), ENOSYS);
  if (is_sanitized) {
    filter.allow(sanitizer_calls);
  } else {
    filter.kill("ptrace");
    filter.allow(SCMP_SYS(clone), has_bits(0, CLONE_THREAD | namespaces, CLONE_THREAD));
  }
  allow_abort(filter);
  return filter.load();
}

namespace {

// For a thread that opens no file: what it does with its descriptors, and memory that is never
// executable.
void allow_serving(Filter& filter) {
  filter.kill(deadly_calls);
  filter.allow(serving_calls);
  filter.allow(SCMP_SYS(ioctl), equals(1, FIONREAD));
  for (const int command : {F_GETFL, F_SETFL, F_GETFD, F_SETFD, F_GETPIPE_SZ, F_SETPIPE_SZ}) {
    filter.allow(SCMP_SYS(fcntl), equals(1, static_cast<std::uint64_t>(command)));
  }
  // fstat(2) of this libc: an empty path.
  filter.allow(SCMP_SYS(newfstatat), equals(3, AT_EMPTY_PATH));
  filter.allow(SCMP_SYS(mmap), has_bits(2, PROT_EXEC, 0));
  filter.allow(SCMP_SYS(mprotect), has_bits(2, PROT_EXEC, 0));
  allow_abort(filter);
}

}  // namespace

Result<void> filter_worker() {
  Filter filter;
  allow_serving(filter);
  filter.kill("ptrace");
  filter.allow(SCMP_SYS(socket), equals(0, AF_INET));
  filter.allow(SCMP_SYS(socket), equals(0, AF_INET6));
  return filter.load();
}

Result<void> filter_front() {
  if (is_sanitized) return filter_process();  // for the leak check at the end
  Filter filter;
  allow_serving(filter);
  filter.allow("accept");
  filter.allow(SCMP_SYS(socket), equals(0, AF_UNIX));
  filter.allow(SCMP_SYS(ioctl), equals(1, FIONBIO));
  filter.kill("ptrace");
  return filter.load();
}

}  // namespace stile::server
