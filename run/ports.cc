// ports: sockets and processes for --publish and --host-port.
#include "run/ports.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>

#include "base/inet_address.h"
#include "base/system_error.h"
#include "proxy/server/privileges.h"
#include "run/port_relay.h"

namespace stile::run {
namespace {

constexpr int port_backlog = 128;

Result<void> enter_network(pid_t process) {
  const auto folder = "/proc/" + std::to_string(process) + "/ns/";
  const UniqueFd user{::open((folder + "user").c_str(), O_RDONLY | O_CLOEXEC)};
  const UniqueFd network{::open((folder + "net").c_str(), O_RDONLY | O_CLOEXEC)};
  if (!user || !network || ::setns(user.get(), CLONE_NEWUSER) != 0 ||
      ::setns(network.get(), CLONE_NEWNET) != 0) {
    return system_error("cannot enter the network of the command");
  }
  return {};
}

// Also those of the log and of the control socket.
void close_others(const std::vector<UniqueFd>& kept) {
  std::vector<unsigned> numbers;
  for (const auto& fd : kept) numbers.push_back(static_cast<unsigned>(fd.get()));
  std::sort(numbers.begin(), numbers.end());
  unsigned next = STDERR_FILENO + 1;
  for (const unsigned number : numbers) {
    if (number > next) ::close_range(next, number - 1, 0);
    next = number + 1;
  }
  ::close_range(next, ~0U, 0);
}

// Everything that a relay gives up before it takes the first connection.
Result<void> settle(const Identity& identity, pid_t entered, pid_t parent) {
  if (entered != 0) {
    if (auto done = enter_network(entered); !done) return done;
  }
  if (auto done = assume(identity); !done) return done;
  // After the change of user, which clears this setting.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) {
    return system_error("cannot ask to be ended with the parent process");
  }
  server::prepare_process();
  return server::drop_privileges("");
}

}  // namespace

std::vector<std::string> ports_text(const Options& options) {
  std::vector<std::string> lines;
  for (const auto port : options.publish) {
    lines.push_back("127.0.0.1:" + std::to_string(port) + " of this host leads to the command");
  }
  for (const auto port : options.host_port) {
    lines.push_back("127.0.0.1:" + std::to_string(port) + " of the command leads to this host");
  }
  return lines;
}

Result<std::vector<UniqueFd>> listen_on(const std::vector<std::uint16_t>& ports,
                                        std::string_view where) {
  std::vector<UniqueFd> listeners;
  for (const auto port : ports) {
    UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const auto address = inet_address(INADDR_LOOPBACK, port);
    if (!fd || ::bind(fd.get(), generic(address), sizeof address) != 0 ||
        ::listen(fd.get(), port_backlog) != 0) {
      return system_error("cannot listen on port " + std::to_string(port) + ' ' +
                          std::string{where});
    }
    listeners.push_back(std::move(fd));
  }
  return listeners;
}

Result<void> start_relay(std::vector<UniqueFd> listeners, const std::vector<std::uint16_t>& ports,
                         const Identity& identity, pid_t entered) {
  if (listeners.empty()) return {};
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  const UniqueFd ready{ends[0]};
  UniqueFd said{ends[1]};
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("cannot fork");
  if (pid == 0) {
    const int announce = said.release();
    if (const auto done = settle(identity, entered, parent); !done) {
      std::fprintf(stderr, "stile: %s\n", done.error().message.c_str());
      ::_exit(1);
    }
    if (::write(announce, "r", 1) != 1) ::_exit(1);
    close_others(listeners);
    relay_ports(listeners, ports);
  }
  said.reset();
  char byte = 0;
  if (::read(ready.get(), &byte, 1) != 1) return Error{"the ports could not be relayed"};
  return {};
}

}  // namespace stile::run
