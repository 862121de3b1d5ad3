// supervise: runs one command, passes signals on to it, and tells how it ended.
#include "netns/supervise.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace stile::netns {
namespace {

sigset_t passed_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number :
       {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGCHLD}) {
    ::sigaddset(&set, number);
  }
  return set;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

sigset_t block_signals() {
  const auto set = passed_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &set, &before);
  return before;
}

int supervise(pid_t child) {
  const auto set = passed_signals();
  while (true) {
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended != child) continue;
      return WIFEXITED(status) ? WEXITSTATUS(status) : signal_base + WTERMSIG(status);
    }
    siginfo_t info{};
    const int number = ::sigwaitinfo(&set, &info);
    // What the terminal sends, it sends to the command as well.
    if (number <= 0 || number == SIGCHLD || info.si_code == SI_KERNEL) continue;
    ::kill(child, number);
  }
}

int become(const std::vector<std::string>& command, const std::vector<std::string>& environment,
           const sigset_t& mask) {
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  const auto arguments = pointers(command);
  const auto variables = pointers(environment);
  ::execvpe(arguments[0], arguments.data(), variables.data());
  const int code = errno;
  std::fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, command[0].c_str(),
               std::strerror(code));
  return code == ENOENT ? not_found : cannot_invoke;
}

}  // namespace stile::netns
