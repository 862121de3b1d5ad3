// Connections that --publish and --host-port relay: how long they stay, and how many.
#include "run/port_relay.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace stile::run {
namespace {

struct Listener {
  UniqueFd fd;
  std::uint16_t port = 0;
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Listener listen() {
  Listener listener{UniqueFd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}};
  auto address = loopback(0);
  socklen_t size = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener.fd.get(), place, size), 0);
  EXPECT_EQ(::listen(listener.fd.get(), 8), 0);
  EXPECT_EQ(::getsockname(listener.fd.get(), place, &size), 0);
  listener.port = ntohs(address.sin_port);
  return listener;
}

UniqueFd connect_to(std::uint16_t port) {
  UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const auto address = loopback(port);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return fd;
}

// The relay in a process of its own, from a listener here to another one here.
class PortRelay : public ::testing::Test {
 protected:
  void start(const RelayLimits& limits) {
    const auto parent = ::getpid();
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    std::vector<UniqueFd> listeners;
    listeners.push_back(std::move(outside_.fd));
    relay_ports(listeners, {target_.port}, limits);
  }
  ~PortRelay() override {
    if (child_ > 0) ::kill(child_, SIGKILL);
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
  }

  // A relayed connection, seen from both ends.
  struct Ends {
    UniqueFd client, target;
  };
  Ends relayed() {
    Ends ends{connect_to(outside_.port), {}};
    ends.target = UniqueFd{::accept4(target_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    return ends;
  }
  static bool passes(const Ends& ends) {
    char byte = 0;
    return ::send(ends.client.get(), "x", 1, MSG_NOSIGNAL) == 1 &&
           ::recv(ends.target.get(), &byte, 1, 0) == 1 && byte == 'x';
  }
  // Waits for it.
  static bool is_closed(const UniqueFd& fd) {
    char byte = 0;
    return ::recv(fd.get(), &byte, 1, 0) <= 0;
  }

  Listener outside_ = listen(), target_ = listen();
  pid_t child_ = -1;
};

TEST_F(PortRelay, ClosesAConnectionInWhichNothingMoves) {
  start({8, std::chrono::milliseconds{200}});
  const auto idle = relayed();
  const auto busy = relayed();
  EXPECT_TRUE(passes(idle));
  std::atomic<bool> is_over = false;
  std::thread mover{[&] {
    while (!is_over) EXPECT_TRUE(passes(busy));
  }};
  EXPECT_TRUE(is_closed(idle.client));
  EXPECT_TRUE(is_closed(idle.target));
  is_over = true;
  mover.join();
  EXPECT_TRUE(passes(busy));
}

TEST_F(PortRelay, AFurtherConnectionWaitsWhileTheOthersAreInUse) {
  start({1, std::chrono::hours{1}, std::chrono::hours{1}});
  auto first = relayed();
  const Ends second{connect_to(outside_.port), {}};
  EXPECT_TRUE(passes(first));
  first.client.reset();
  first.target.reset();
  const Ends both{UniqueFd{::dup(second.client.get())},
                  UniqueFd{::accept4(target_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC)}};
  EXPECT_TRUE(passes(both));
}

TEST_F(PortRelay, AFurtherConnectionReplacesTheOneThatIsIdleForLongest) {
  start({2, std::chrono::hours{1}, std::chrono::milliseconds{0}});
  const auto first = relayed();
  const auto second = relayed();
  EXPECT_TRUE(passes(second));
  EXPECT_TRUE(passes(first));
  const auto third = relayed();
  EXPECT_TRUE(is_closed(second.client));
  EXPECT_TRUE(passes(third));
  EXPECT_TRUE(passes(first));
}

}  // namespace
}  // namespace stile::run
