// supervise: runs one command, forwards signals to it, and returns how it ended.
#include "confine/supervise.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <sstream>

#include "base/system_error.h"

namespace stile::confine {
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

void add_pause_signals(sigset_t& set) {
  ::sigaddset(&set, pause_signal());
  ::sigaddset(&set, resume_signal());
}

// Of kill(2) the kernel itself says who sent it: 0 is a process that this namespace does not see.
bool is_from_outside(const siginfo_t& info) { return info.si_code == SI_USER && info.si_pid == 0; }

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

int status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : signal_base + WTERMSIG(status);
}

// Reaps ended processes. Returns the status once the child has ended.
std::optional<int> reap(pid_t child) {
  int status = 0;
  for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended == child) return status_of(status);
  }
  return std::nullopt;
}

bool is_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return true;
  const char* path = ::secure_getenv("PATH");
  std::istringstream directories{path != nullptr ? path : ""};
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (::access((directory + '/' + name).c_str(), F_OK) == 0) return true;
  }
  return false;
}

}  // namespace

sigset_t block_signals() {
  auto set = passed_signals();
  add_pause_signals(set);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  return before;
}

int pause_signal() { return SIGRTMIN; }
int resume_signal() { return SIGRTMIN + 1; }

int supervise(const Supervised& supervised) {
  auto set = passed_signals();
  if (supervised.can_pause) add_pause_signals(set);
  auto tick_at = std::time(nullptr) + 1;
  while (true) {
    if (const auto status = reap(supervised.child)) return *status;
    siginfo_t info{};
    const timespec second{1, 0};
    const int number =
        supervised.each_second ? ::sigtimedwait(&set, &info, &second) : ::sigwaitinfo(&set, &info);
    if (supervised.each_second && std::time(nullptr) >= tick_at) {
      supervised.each_second();
      tick_at = std::time(nullptr) + 1;
    }
    if (number <= 0 || number == SIGCHLD) continue;
    if (number == pause_signal() || number == resume_signal()) {
      if (is_from_outside(info)) ::kill(-1, number == pause_signal() ? SIGSTOP : SIGCONT);
      continue;
    }
    if (supervised.on_signal) supervised.on_signal(number);
    // The terminal sends its signals to the command as well.
    if (info.si_code == SI_KERNEL) continue;
    ::kill(supervised.child, number);
  }
}

int become(std::vector<std::string> command, std::vector<std::string> environment,
           const sigset_t& mask) {
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  const auto arguments = pointers(command);
  const auto variables = pointers(environment);
  ::execvpe(arguments[0], arguments.data(), variables.data());
  // EACCES from a directory of PATH that cannot be searched does not mean that the command exists.
  const int code = errno == EACCES && !is_in_path(command[0]) ? ENOENT : errno;
  std::fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, command[0].c_str(),
               error_text(code).c_str());
  return code == ENOENT ? not_found : cannot_invoke;
}

}  // namespace stile::confine
