// Which system calls are refused.
#include "confine/seccomp.h"

#include <gtest/gtest.h>
#include <linux/keyctl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

namespace stile::confine {
namespace {

bool is_refused(int call, std::uint32_t value) {
  for (const auto& refusal : refused_calls()) {
    if (refusal.call != call) continue;
    if (refusal.when.empty()) return true;
    const auto& when = refusal.when.front();
    if (when.is == Argument::Is::equal ? when.value == value : value >= when.value) return true;
  }
  return false;
}

TEST(ConfineSeccomp, RefusesFamiliesThatNoNetworkNamespaceConfines) {
  for (std::uint32_t family = 0; family < 64; ++family) {
    const bool is_known = family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
                          family == AF_NETLINK || family == AF_PACKET;
    EXPECT_EQ(is_refused(SYS_socket, family), !is_known) << family;
    EXPECT_EQ(is_refused(SYS_socketpair, family), !is_known) << family;
  }
  EXPECT_TRUE(is_refused(SYS_socket, 0xffffffff));
}

TEST(ConfineSeccomp, RefusesToTypeIntoTheTerminal) {
  EXPECT_TRUE(is_refused(SYS_ioctl, TIOCSTI));
  EXPECT_TRUE(is_refused(SYS_ioctl, TIOCLINUX));
  EXPECT_FALSE(is_refused(SYS_ioctl, TIOCGWINSZ));
}

// What a process under the filter sees: 0 or an error number.
int under_the_filter(const std::function<long()>& attempt) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::syscall(SYS_prctl, 38, 1, 0, 0, 0);  // PR_SET_NO_NEW_PRIVS
    if (!refuse_calls(refused_calls())) ::_exit(200);
    ::_exit(attempt() < 0 ? errno : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ConfineSeccomp, TheUpperHalfOfAnArgumentIsNoWayAround) {
  constexpr unsigned long upper = 1UL << 40U;
  EXPECT_EQ(under_the_filter([] { return ::syscall(SYS_ioctl, 0, upper | TIOCSTI, "x"); }), EPERM);
  EXPECT_EQ(
      under_the_filter([] { return ::syscall(SYS_socket, upper | AF_VSOCK, SOCK_STREAM, 0); }),
      EAFNOSUPPORT);
  EXPECT_EQ(under_the_filter([] { return ::syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0); }), 0);
  EXPECT_EQ(under_the_filter([] { return ::syscall(SYS_io_uring_setup, 8, nullptr); }), ENOSYS);
}

TEST(ConfineSeccomp, RefusesTheKernelsKeys) {
  constexpr int own_session = KEY_SPEC_SESSION_KEYRING;
  EXPECT_EQ(under_the_filter([] {
              return ::syscall(SYS_add_key, "user", "stile-test", "x", 1, KEY_SPEC_PROCESS_KEYRING);
            }),
            ENOSYS);
  EXPECT_EQ(under_the_filter([] {
              return ::syscall(SYS_request_key, "user", "stile-test", nullptr, own_session);
            }),
            ENOSYS);
  EXPECT_EQ(
      under_the_filter([] { return ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, own_session, 0); }),
      ENOSYS);
}

TEST(ConfineSeccomp, RefusesTheMessagesOfTheKernel) {
  constexpr int size_of_buffer = 10;
  EXPECT_EQ(under_the_filter([] { return ::syscall(SYS_syslog, size_of_buffer, nullptr, 0); }),
            EPERM);
}

TEST(ConfineSeccomp, LetsNobodyChangeTheLimitOfCoreFilesButSaysSo) {
  constexpr rlimit one{1, 1}, none{0, 0}, more{64, 64};
  ::setrlimit(RLIMIT_CORE, &one);
  const auto limit_after = [&](auto change) {
    return under_the_filter([&]() -> long {
      rlimit now{};
      if (change() != 0 || ::getrlimit(RLIMIT_CORE, &now) != 0) return -1;
      errno = static_cast<int>(100 + now.rlim_cur);
      return -1;
    });
  };
  EXPECT_EQ(limit_after([&] { return ::setrlimit(RLIMIT_CORE, &none); }), 101);
  EXPECT_EQ(limit_after([&] { return ::syscall(SYS_setrlimit, RLIMIT_CORE, &none); }), 101);
  EXPECT_EQ(limit_after([&] { return ::prlimit(::getpid(), RLIMIT_CORE, &none, nullptr); }), 101);
  EXPECT_EQ(under_the_filter([&]() -> long {
              rlimit files{};
              ::setrlimit(RLIMIT_NOFILE, &more);
              return ::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur == 64 ? 0 : -1;
            }),
            0);
}

}  // namespace
}  // namespace stile::confine
