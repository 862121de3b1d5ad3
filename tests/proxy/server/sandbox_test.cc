// The sandbox from inside: each attempt runs in a process of its own that has entered it.
#include "proxy/server/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

namespace stile::server {
namespace {

constexpr int done = 0, not_confined = 200, killed = 300;

std::string folder() {
  std::string name = (std::filesystem::temp_directory_path() / "stile-sandbox-XXXXXX").string();
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  return name;
}

// What an attempt comes to: 0, its errno, or `killed`.
int outcome(bool as_worker, const std::string& writable, const std::function<long()>& attempt) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int result = not_confined;
    if (confine_process({writable})) {
      const auto act = [&] { result = attempt() < 0 ? errno : done; };
      if (as_worker) {
        std::thread{[&] {
          if (confine_worker()) act();
        }}.join();
      } else {
        act();
      }
    }
    ::_exit(result);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGSYS ? killed : -WTERMSIG(status);
  return WEXITSTATUS(status);
}

int as_worker(const std::function<long()>& attempt) { return outcome(true, "/nowhere", attempt); }
int as_main(const std::function<long()>& attempt, const std::string& writable = "/nowhere") {
  return outcome(false, writable, attempt);
}

long open_file(const char* path, int flags) { return ::open(path, flags | O_CLOEXEC, 0600); }

long run_program() {
  std::array<char*, 1> none{nullptr};
  return ::execve("/bin/true", none.data(), none.data());
}

long bind_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

long listen_unbound() { return ::listen(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), 1); }

long map_executable() {
  return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                 MAP_FAILED
             ? -1
             : 0;
}

bool kernel_has_landlock() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

TEST(SandboxWorker, OpensNoFile) {
  EXPECT_EQ(as_worker([] { return open_file("/etc/hosts", O_RDONLY); }), EPERM);
  EXPECT_EQ(as_worker([] { return open_file("/dev/null", O_WRONLY); }), EPERM);
  EXPECT_EQ(as_worker([] { return ::syscall(SYS_open, "/etc/hosts", O_RDONLY); }), EPERM);
  EXPECT_EQ(as_worker([] { return ::unlink("/nowhere/file"); }), EPERM);
  EXPECT_EQ(as_worker([] { return std::rename("/nowhere/a", "/nowhere/b"); }), EPERM);
}

TEST(SandboxWorker, RunsNoProgramAndStartsNothing) {
  EXPECT_EQ(as_worker(run_program), killed);
  EXPECT_EQ(as_worker([] { return ::syscall(SYS_fork); }), EPERM);
  EXPECT_EQ(as_worker([] { return ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }), EPERM);
}

TEST(SandboxWorker, BindsNothing) {
  EXPECT_EQ(as_worker(bind_port), EPERM);
  EXPECT_EQ(as_worker(listen_unbound), EPERM);
}

TEST(SandboxWorker, HasOnlyInternetSockets) {
  EXPECT_EQ(as_worker([] { return ::socket(AF_INET6, SOCK_STREAM, 0); }), done);
  EXPECT_EQ(as_worker([] { return ::socket(AF_UNIX, SOCK_STREAM, 0); }), EPERM);
  EXPECT_EQ(as_worker([] { return ::socket(AF_NETLINK, SOCK_RAW, 0); }), EPERM);
  EXPECT_EQ(as_worker([] { return ::socket(AF_PACKET, SOCK_RAW, 0); }), EPERM);
}

TEST(SandboxWorker, ReachesNoOtherProcessOrNamespace) {
  EXPECT_EQ(as_worker([] { return ::unshare(CLONE_NEWUSER); }), killed);
  EXPECT_EQ(as_worker([] { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }), killed);
  EXPECT_EQ(as_worker([] { return ::kill(::getppid(), 0); }), EPERM);
  EXPECT_EQ(as_worker([] { return ::setuid(0); }), killed);
}

TEST(SandboxWorker, MakesNoMemoryExecutable) { EXPECT_EQ(as_worker(map_executable), EPERM); }

TEST(SandboxWorker, StillServes) {
  EXPECT_EQ(as_worker([] {
              std::array<int, 2> ends{};
              if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return -1L;
              if (::fcntl(ends[0], F_SETPIPE_SZ, 65536) < 0) return -1L;
              struct stat status {};
              if (::fstat(ends[1], &status) != 0) return -1L;
              const std::string large(1 << 20, 'x');  // from mmap
              return static_cast<long>(::write(ends[1], large.data(), 4096));
            }),
            done);
}

TEST(SandboxProcess, RunsNoProgram) {
  EXPECT_EQ(as_main(run_program), killed);
  EXPECT_EQ(as_main([] { return ::unshare(CLONE_NEWNET); }), killed);
}

TEST(SandboxProcess, ListensNowhere) { EXPECT_EQ(as_main(listen_unbound), EPERM); }

TEST(SandboxProcess, ReadsAndStartsThreads) {
  EXPECT_EQ(as_main([] { return open_file("/etc/passwd", O_RDONLY); }), done);
  EXPECT_EQ(as_main([] {
              std::thread{[] {}}.join();
              return 0L;
            }),
            done);
}

TEST(SandboxProcess, WritesOnlyBelowItsDirectories) {
  if (!kernel_has_landlock()) GTEST_SKIP() << "this kernel has no Landlock";
  const std::string own = folder();
  const std::string foreign = folder();
  const auto create = [](const std::string& file) {
    return open_file(file.c_str(), O_WRONLY | O_CREAT);
  };
  EXPECT_EQ(as_main([&] { return create(own + "/a"); }, own), done);
  EXPECT_EQ(as_main([&] { return std::rename((own + "/a").c_str(), (own + "/b").c_str()); }, own),
            done);
  EXPECT_EQ(as_main([&] { return ::unlink((own + "/b").c_str()); }, own), done);
  EXPECT_EQ(as_main([&] { return create(foreign + "/a"); }, own), EACCES);
  std::filesystem::remove_all(own);
  std::filesystem::remove_all(foreign);
}

TEST(SandboxProcess, BindsNoPort) {
  if (!kernel_has_landlock()) GTEST_SKIP() << "this kernel has no Landlock";
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 4) GTEST_SKIP() << "this kernel's Landlock knows no ports";
  EXPECT_EQ(as_main(bind_port), EACCES);
}

TEST(SandboxProcess, LeavesOutADirectoryThatIsNotThere) {
  EXPECT_EQ(as_main([] { return 0L; }, "/nowhere/at/all"), done);
}

}  // namespace
}  // namespace stile::server
