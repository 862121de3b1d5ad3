// run_command: runs a program and returns what it prints.
#include "base/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/system_error.h"
#include "base/unique_fd.h"

namespace stile {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A process group of its own, with the signals of a program that was just started.
Result<pid_t> spawn(const std::vector<std::string>& command, int output) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, words[0], &files, &attributes, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) return Error{command[0] + ": " + error_text(failed)};
  return child;
}

// False: too late or too much.
bool read_until(int fd, SteadyClock::time_point end, std::size_t max_bytes, std::string& out) {
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - SteadyClock::now()).count();
    pollfd ready{fd, POLLIN, 0};
    const int found = left <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left));
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) return false;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    out.append(buffer.data(), static_cast<std::size_t>(got));
    if (out.size() > max_bytes) return false;
  }
  ::explicit_bzero(buffer.data(), buffer.size());
  return true;
}

}  // namespace

Result<std::string> run_command(std::vector<std::string> command, std::size_t max_bytes,
                                std::chrono::milliseconds longest) {
  if (command.empty()) return Error{"no command"};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  const UniqueFd from{ends[0]};
  UniqueFd to{ends[1]};
  const auto child = spawn(command, to.get());
  to.reset();
  if (!child) return child.error();
  std::string out;
  out.reserve(max_bytes);  // so that no copies of it are left behind
  const bool is_read = read_until(from.get(), SteadyClock::now() + longest, max_bytes, out);
  // One that closed its output and goes on is not waited for.
  int status = 0;
  pid_t ended = 0;
  const auto end = SteadyClock::now() + std::chrono::seconds{1};
  while (is_read && ended == 0 && SteadyClock::now() < end) {
    ended = ::waitpid(*child, &status, WNOHANG);
    if (ended == 0) ::usleep(1000);
  }
  ::kill(-*child, SIGKILL);
  if (ended == 0) ended = ::waitpid(*child, &status, 0);
  if (is_read && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return Result<std::string>{boost::system::in_place_value, std::move(out)};
  }
  const bool is_too_much = out.size() > max_bytes;
  ::explicit_bzero(out.data(), out.size());
  if (is_too_much) {
    return Error{command[0] + ": printed more than " + std::to_string(max_bytes) + " bytes"};
  }
  if (!is_read) {
    return Error{command[0] + ": did not end within " + std::to_string(longest.count() / 1000) +
                 " seconds"};
  }
  return Error{command[0] + (WIFEXITED(status)
                                 ? ": exited with " + std::to_string(WEXITSTATUS(status))
                                 : ": was ended by signal " + std::to_string(WTERMSIG(status)))};
}

}  // namespace stile
