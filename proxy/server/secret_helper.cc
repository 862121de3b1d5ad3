// SecretHelper: a process that runs the commands of secrets for the daemon.
#include "proxy/server/secret_helper.h"

#include <fcntl.h>
#include <poll.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>

#include "base/contains.h"
#include "base/local_socket.h"
#include "base/run_command.h"
#include "base/system_error.h"

namespace stile::server {
namespace {

constexpr std::size_t max_command_output = 20'000;
constexpr std::chrono::seconds command_time{30};
constexpr int answer_time_ms = 35'000;  // longer than a command may take
constexpr char answer_good = '+', answer_bad = '-';

std::string answer_to(const SecretHelper::Command& command) {
  auto output = run_command(command, max_command_output, command_time);
  if (!output) return answer_bad + output.error().message;
  std::string answer = answer_good + *output;
  ::explicit_bzero(output->data(), output->size());
  return answer;
}

// Until the daemon has ended. Its signals are for the daemon: a drain may still need new values.
[[noreturn]] void serve_commands(int socket, const std::vector<SecretHelper::Command>& commands) {
  ::prctl(PR_SET_NAME, "stiled-secrets");
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGQUIT}) ::signal(number, SIG_IGN);
  for (;;) {
    std::uint32_t number = 0;
    const ssize_t got = ::recv(socket, &number, sizeof number, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof number || number >= commands.size()) ::_exit(0);
    std::string answer;
    try {
      answer = answer_to(commands[number]);
    } catch (const std::exception& problem) {
      answer = std::string{answer_bad} + problem.what();
    }
    if (::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) ::_exit(1);
    ::explicit_bzero(answer.data(), answer.size());
  }
}

}  // namespace

Result<std::unique_ptr<SecretHelper>> SecretHelper::start(std::vector<Command> commands) {
  auto ends = socket_pair(SOCK_SEQPACKET);
  if (!ends) return ends.error();
  auto [ours, theirs] = std::move(*ends);
  const pid_t child = ::fork();
  if (child < 0) return system_error("cannot fork");
  if (child == 0) {
    // Nothing of the daemon but the standard descriptors: no listener, no log.
    constexpr int kept = STDERR_FILENO + 1;
    if (::dup2(theirs.get(), kept) != kept && theirs.get() != kept) ::_exit(1);
    ::fcntl(kept, F_SETFD, FD_CLOEXEC);
    if (::close_range(kept + 1, ~0U, 0) != 0) ::_exit(1);
    serve_commands(kept, commands);
  }
  return std::unique_ptr<SecretHelper>{
      new SecretHelper{std::move(commands), child, std::move(ours)}};
}

SecretHelper::~SecretHelper() {
  socket_.reset();  // it ends when this is closed
  while (::waitpid(process_, nullptr, WNOHANG) < 0 && errno == EINTR) {
  }
}

bool SecretHelper::knows(const Command& command) const { return contains(commands_, command); }

Result<std::string> SecretHelper::run(const Command& command) {
  const auto found = std::find(commands_.begin(), commands_.end(), command);
  if (found == commands_.end()) return Error{"this command is not known"};
  const auto number = static_cast<std::uint32_t>(found - commands_.begin());
  const std::lock_guard lock{one_at_a_time_};
  if (!socket_) return Error{"the process that runs commands has ended; restart stiled"};
  std::string answer(max_command_output + 1, '\0');
  ssize_t got = ::send(socket_.get(), &number, sizeof number, MSG_NOSIGNAL);
  if (got >= 0) {
    const bool is_ready = wait_until_ready(socket_.get(), POLLIN, answer_time_ms);
    got = is_ready ? ::recv(socket_.get(), answer.data(), answer.size(), 0) : -1;
  }
  if (got <= 0) {
    socket_.reset();  // a late answer must not be taken for that of the next command
    return Error{"the process that runs commands has ended; restart stiled"};
  }
  answer.resize(static_cast<std::size_t>(got));
  std::string text = answer.substr(1);
  const bool is_good = answer[0] == answer_good;
  ::explicit_bzero(answer.data(), answer.size());
  if (!is_good) return Error{std::move(text)};
  return Result<std::string>{boost::system::in_place_value, std::move(text)};
}

}  // namespace stile::server
