// capture: the name server and the listeners of captured connections inside.
#include "run/capture.h"

#include <net/if.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "base/inet_address.h"
#include "base/system_error.h"

namespace stile::run {
namespace {

constexpr std::uint16_t names_port = 53, plain_http_port = 80;
constexpr int capture_backlog = 1024;
constexpr std::size_t most_ports = 256;  // a list has few; each costs a socket

// The kernel takes all addresses of a loopback's prefix as its own.
Result<void> add_subnet(const acl::Address& address, unsigned length) {
  const UniqueFd control{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!control) return system_error("cannot make a socket");
  ifreq request{};
  std::strncpy(request.ifr_name, "lo:names", IFNAMSIZ - 1);
  const auto set = [&](unsigned long what, const acl::Address& value) {
    const auto text = inet_address(value.v4_value(), 0);
    std::memcpy(&request.ifr_addr, &text, sizeof text);
    return ::ioctl(control.get(), what, &request) == 0;
  };
  const auto mask = acl::Address::v4(~0U << (32U - length));
  if (!set(SIOCSIFADDR, address) || !set(SIOCSIFNETMASK, mask)) {
    return system_error("cannot add " + address.text() + " to the loopback");
  }
  return {};
}

Result<UniqueFd> bind_to(int type, const acl::Address& address, std::uint16_t port) {
  UniqueFd fd{::socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const auto place = inet_address(address.v4_value(), port);
  const int on = 1;
  if (type == SOCK_STREAM) ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!fd || ::bind(fd.get(), generic(place), sizeof place) != 0 ||
      (type == SOCK_STREAM && ::listen(fd.get(), capture_backlog) != 0)) {
    return system_error("cannot listen inside on port " + std::to_string(port));
  }
  return fd;
}

}  // namespace

acl::Address CapturePlan::name_server() const noexcept {
  return acl::Address::v4(subnet.first().v4_value() + 1);
}

std::string CapturePlan::resolver_text() const {
  return "# Made by stile run: names of hosts that the command may reach, and no others.\n"
         "nameserver " +
         name_server().text() + "\n";
}

CapturePlan plan_capture(const config::Settings& settings, const config::AgentSettings& agent) {
  std::set<std::uint16_t> ports;
  const auto add = [&](const std::vector<std::uint16_t>& more) {
    ports.insert(more.begin(), more.end());
  };
  add(agent.ports.value_or(settings.egress.ports));
  add(agent.http_ports.value_or(settings.egress.http_ports));
  for (const auto& placed : agent.allow) {
    if (placed.pattern.port != 0) ports.insert(placed.pattern.port);
  }
  if (agent.mode.value_or(settings.egress.mode) == acl::Mode::observe)
    ports.insert(plain_http_port);
  ports.erase(names_port);
  CapturePlan plan{settings.netns.capture_subnet, {ports.begin(), ports.end()}};
  if (plan.ports.size() > most_ports) plan.ports.resize(most_ports);
  return plan;
}

Result<std::vector<UniqueFd>> open_capture(const CapturePlan& plan) {
  const acl::Address server = plan.name_server(), any = acl::Address::v4(0);
  if (auto added = add_subnet(server, plan.subnet.length); !added) return added.error();
  std::vector<UniqueFd> sockets;
  const auto open = [&](int type, const acl::Address& address, std::uint16_t port) -> Result<void> {
    auto fd = bind_to(type, address, port);
    if (!fd) return fd.error();
    sockets.push_back(std::move(*fd));
    return {};
  };
  if (auto done = open(SOCK_DGRAM, server, names_port); !done) return done.error();
  if (auto done = open(SOCK_STREAM, server, names_port); !done) return done.error();
  for (const std::uint16_t port : plan.ports) {
    if (auto done = open(SOCK_STREAM, any, port); !done) return done.error();
  }
  return sockets;
}

}  // namespace stile::run
