// Keeper: the process that systemd watches.
#include "proxy/server/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/local_socket.h"
#include "base/system_error.h"
#include "proxy/server/service_unit.h"

namespace stile::server {
namespace {

using std::chrono::steady_clock;

// What they say to each other: mostly one byte.
constexpr char end_word = 'e', outlive_word = 'o';  // the keeper
constexpr char serves_word = 's', go_word = 'g';    // the daemon, which also says which process
                                                    // systemd has to watch from now on
constexpr std::array kept_signals{SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD};

bool say(int socket, std::string_view words) {
  return ::send(socket, words.data(), words.size(), MSG_NOSIGNAL) > 0;
}
bool say(int socket, char word) { return say(socket, std::string_view{&word, 1}); }

Result<void> die_with(pid_t parent) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return system_error("PR_SET_PDEATHSIG");
  if (::getppid() != parent) return Error{"the process that watches this one has ended"};
  return {};
}

class Watch {
 public:
  Watch(pid_t daemon, UniqueFd socket, UniqueFd signals)
      : daemon_{daemon}, socket_{std::move(socket)}, signals_{std::move(signals)} {}

  [[noreturn]] void run() {
    for (;;) {
      std::array<pollfd, 2> entries{{{signals_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}}};
      const int count = ::poll(entries.data(), entries.size(), time_left());
      if (count == 0) end_others();  // the daemon is one of them
      if (count <= 0) continue;
      if (entries[1].revents != 0) hear();
      if (entries[0].revents != 0) on_signal();
    }
  }

 private:
  [[nodiscard]] int time_left() const {
    if (!give_up_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*give_up_ - steady_clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 100));
  }

  void hear() {
    std::array<char, 16> words{};
    const ssize_t got = ::recv(socket_.get(), words.data(), words.size() - 1, MSG_DONTWAIT);
    if (got == 0) socket_.reset();  // the daemon ends; SIGCHLD follows
    if (got <= 0) return;
    if (words[0] == serves_word) is_main_ = true;
    // Only as an answer: whatever happens in the daemon, it does not outlive a stop.
    if (words[0] == go_word && is_restart_) ::_exit(0);
    if (const int watched = std::atoi(words.data()); watched > 1) leave_to(watched);
  }

  // systemd would not know from whom it is if the daemon said it and then ended.
  void leave_to(int watched) {
    is_main_ = false;
    ::sd_notify(0, ("MAINPID=" + std::to_string(watched)).c_str());
  }

  void on_signal() {
    signalfd_siginfo signal{};
    if (::read(signals_.get(), &signal, sizeof signal) != sizeof signal) return;
    const int number = static_cast<int>(signal.ssi_signo);
    if (number == SIGCHLD) return look_at_daemon();
    const bool is_end = number == SIGTERM || number == SIGINT;
    // A daemon that is not the one of the service knows itself what to do.
    if (!is_end || !is_main_) {
      ::kill(daemon_, number);
      return;
    }
    const ServiceUnit unit = ask_systemd();
    is_restart_ = unit.is_being_restarted;
    give_up_ = steady_clock::now() + unit.time_to_stop;
    if (!say(socket_.get(), is_restart_ ? outlive_word : end_word)) ::kill(daemon_, number);
  }

  void look_at_daemon() {
    if (socket_) hear();  // its last word
    int status = 0;
    if (::waitpid(daemon_, &status, WNOHANG) != daemon_) return;
    if (is_main_) end_others();
    if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
    // systemd shows how the daemon died.
    ::signal(WTERMSIG(status), SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::raise(WTERMSIG(status));
    ::_exit(EXIT_FAILURE);
  }

  pid_t daemon_;
  UniqueFd socket_, signals_;
  bool is_main_ = false, is_restart_ = false;
  std::optional<steady_clock::time_point> give_up_;  // systemd would kill the keeper soon
};

// Nothing of the daemon but the standard descriptors and one end of the pair.
[[noreturn]] void watch(pid_t daemon, UniqueFd socket, const sigset_t& signals) {
  ::prctl(PR_SET_NAME, "stiled-keeper");
  constexpr int kept = STDERR_FILENO + 1;
  if (socket.get() != kept && ::dup2(socket.get(), kept) != kept) ::_exit(EXIT_FAILURE);
  static_cast<void>(socket.release());
  ::close_range(kept + 1, ~0U, 0);
  UniqueFd events{::signalfd(-1, &signals, SFD_CLOEXEC)};
  if (!events) ::_exit(EXIT_FAILURE);
  Watch{daemon, UniqueFd{kept}, std::move(events)}.run();
}

}  // namespace

Result<Keeper> Keeper::start() {
  auto ends = socket_pair(SOCK_SEQPACKET);
  if (!ends) return ends.error();
  auto [its, mine] = std::move(*ends);
  sigset_t signals, before;
  ::sigemptyset(&signals);
  for (const int number : kept_signals) ::sigaddset(&signals, number);
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child > 0) {
    mine.reset();
    watch(child, std::move(its), signals);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return system_error("fork");
  if (auto done = die_with(parent); !done) return done.error();
  // Sockets that systemd passes are for the process that it has started.
  const char* receiver = std::getenv("LISTEN_PID");
  if (receiver != nullptr && receiver == std::to_string(parent)) {
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
  }
  return Keeper{parent, std::move(mine)};
}

std::optional<Keeper::Order> Keeper::receive() const {
  char word = 0;
  const ssize_t got = ::recv(socket_.get(), &word, 1, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got != 1) return Order::gone;
  return word == outlive_word ? Order::outlive : Order::end;
}

Result<void> Keeper::serves() {
  if (!socket_) return {};
  // Again: a change of the user has undone it.
  if (auto done = die_with(process_); !done) return done;
  if (!say(socket_.get(), serves_word)) return Error{"the process that watches this one has ended"};
  return {};
}

bool Keeper::has_left_to(pid_t watched) const {
  return socket_ && say(socket_.get(), std::to_string(watched));
}

void Keeper::release() {
  ::prctl(PR_SET_PDEATHSIG, 0);
  static_cast<void>(say(socket_.get(), go_word));
  socket_.reset();
  process_ = 0;
}

}  // namespace stile::server
