// bwrap: bubblewrap around the command, for the files.
#include "run/bwrap.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <set>

#include "netns/paths.h"
#include "netns/supervise.h"
#include "proxy/base/unique_fd.h"
#include "run/kernel.h"

namespace stile::run {
namespace {

constexpr int info_fd = 3;     // where bubblewrap writes the process id of the command
constexpr int started_fd = 4;  // where a byte says that the command is about to start

// Says that bubblewrap has done its part, then gives way to the command, or to the shell's own
// statuses 126 and 127.
constexpr auto launcher = "printf . >&4; exec 4>&-; exec \"$@\"";

struct Pipe {
  UniqueFd reader, writer;
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return false;
    reader.reset(ends[0]);
    writer.reset(ends[1]);
    return true;
  }
};

// The number after "child-pid":, or 0 as long as it is not there.
pid_t command_pid(const UniqueFd& info) {
  std::array<char, 256> buffer{};
  const auto size = ::read(info.get(), buffer.data(), buffer.size());
  if (size <= 0) return 0;
  const std::string_view text{buffer.data(), static_cast<std::size_t>(size)};
  const auto digits = text.find_first_of("0123456789");
  pid_t pid = 0;
  if (digits == std::string_view::npos) return 0;
  std::from_chars(text.data() + digits, text.data() + text.size(), pid);
  return pid;
}

bool is_directory(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_directory(path, failed);
}

// At their numbers, without close-on-exec; they lie between the numbers that pipe2 gave out.
bool place(const Pipe& info, const Pipe& started) {
  constexpr int aside = 10;
  const int first = ::fcntl(info.writer.get(), F_DUPFD_CLOEXEC, aside);
  const int second = ::fcntl(started.writer.get(), F_DUPFD_CLOEXEC, aside);
  return first >= 0 && second >= 0 && ::dup2(first, info_fd) == info_fd &&
         ::dup2(second, started_fd) == started_fd && ::fcntl(started_fd, F_SETFL, 0) == 0 &&
         ::fcntl(info_fd, F_SETFL, 0) == 0;
}

}  // namespace

Result<std::vector<std::string>> bwrap_command(const std::vector<std::string>& command,
                                               const Hidden& hidden, const std::string& workspace,
                                               const std::string& home) {
  std::set<std::string> empty{"/home", "/root", "/tmp", "/var/tmp"};
  if (home.size() > 1 && home.starts_with('/')) empty.insert(home);
  const bool is_too_wide =
      workspace == "/" || std::any_of(empty.begin(), empty.end(), [&](const auto& directory) {
        return netns::is_within(directory, workspace);
      });
  if (is_too_wide) {
    return Error{"--bwrap makes the working directory writable, and " + workspace +
                 " is too much; start it in a directory below"};
  }
  std::vector<std::string> line{"bwrap",     "--info-fd", std::to_string(info_fd),
                                "--ro-bind", "/",         "/",
                                "--dev",     "/dev",      "--dev-bind",
                                "/proc",     "/proc"};
  const auto add = [&](std::initializer_list<std::string> words) {
    line.insert(line.end(), words);
  };
  for (const auto& directory : empty) {
    if (is_directory(directory)) add({"--tmpfs", directory});
  }
  for (const auto& path : hidden.exposed) {
    if (path != workspace) add({"--ro-bind", path, path});
  }
  add({"--bind", workspace, workspace, "--chdir", workspace});
  add({"--", "sh", "-c", launcher, "sh"});
  line.insert(line.end(), command.begin(), command.end());
  return line;
}

int run_bwrap(const std::function<int()>& become) {
  Pipe info;
  Pipe started;
  if (!info.open() || !started.open()) return netns::own_failure;
  const pid_t child = ::fork();
  if (child < 0) return netns::own_failure;
  if (child == 0) ::_exit(place(info, started) ? become() : netns::own_failure);
  info.writer.reset();
  started.writer.reset();
  pid_t command = 0;
  const auto target = [&] {
    if (command == 0) command = command_pid(info.reader);
    return command;
  };
  const int status = netns::supervise({child, target, {}});
  char mark = 0;
  if (::read(started.reader.get(), &mark, 1) == 1) return status;
  std::fputs("stile: bubblewrap could not run the command\n", stderr);
  return netns::own_failure;
}

}  // namespace stile::run
