// hand_over: gives a daemon without privileges the sockets of captured traffic.
#include "netns/hand_over.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/inet_address.h"
#include "base/quoted.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "control/client.h"

namespace stile::netns {
namespace {

constexpr control::ControlClient::Bounds hand_over_bounds{std::chrono::seconds{5},
                                                          std::size_t{1} << 20U};
constexpr std::uint16_t names_port = 53;
constexpr int capture_backlog = 4096;

// As the daemon opens them itself when it is started as root.
Result<UniqueFd> open_socket(int type, const acl::Address& gateway, std::uint16_t port) {
  const std::string name = gateway.text() + ':' + std::to_string(port);
  UniqueFd fd{::socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const auto set = [&](int level, int option) {
    const int on = 1;
    return ::setsockopt(fd.get(), level, option, &on, sizeof on) == 0;
  };
  const bool is_tcp = type == SOCK_STREAM;
  if (!fd || !set(IPPROTO_IP, IP_FREEBIND) || !set(IPPROTO_IP, IP_TRANSPARENT)) {
    return system_error("cannot open " + name);
  }
  // For UDP it would mean to take over another process's address.
  if (is_tcp && (!set(SOL_SOCKET, SO_REUSEADDR) || !set(IPPROTO_TCP, TCP_NODELAY))) {
    return system_error("cannot open " + name);
  }
  const auto place = inet_address(gateway.v4_value(), port);
  if (::bind(fd.get(), generic(place), sizeof place) != 0 ||
      (is_tcp && ::listen(fd.get(), capture_backlog) != 0)) {
    return system_error("cannot listen on " + name);
  }
  return fd;
}

Error daemon_error(const std::string& message) {
  return Error{"the daemon did not get the sockets of captured traffic: " + message};
}

}  // namespace

Result<bool> hand_over_capture(const Setup& setup) {
  if (!setup.netns.capture) return false;
  auto daemon = control::ControlClient::connect(setup.control, hand_over_bounds);
  if (!daemon) {
    if (daemon.error().kind == control::ClientError::Kind::absent) return false;
    return daemon_error(daemon.error().message);
  }
  const auto state = daemon->ask(R"({"action":"ping"})");
  if (!state) return daemon_error(state.error().message);
  // The daemon writes its answers without blanks, and no text of others is in this one.
  if (state->find(R"("capture":"missing")") == std::string::npos) return false;
  const auto& gateway = setup.netns.gateway;
  // Both are opened before one is handed over: half of them would be of no use.
  const auto questions = open_socket(SOCK_DGRAM, gateway, names_port);
  if (!questions) return questions.error();
  const auto connections = open_socket(SOCK_STREAM, gateway, setup.netns.capture_port());
  if (!connections) return connections.error();
  const std::array both{&*questions, &*connections};
  for (const UniqueFd* socket : both) {
    const auto taken = daemon->ask(R"({"action":"adopt-capture"})", socket->get());
    if (!taken) return daemon_error(taken.error().message);
    if (!control::is_ok(*taken)) return daemon_error("it says " + in_quotes(*taken));
  }
  return true;
}

}  // namespace stile::netns
