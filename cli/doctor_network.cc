// doctor_network: whether the daemon's listeners and DNS servers answer.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/system_error.h"
#include "cli/doctor_checks.h"

namespace stile::cli {
namespace {

constexpr int patience_ms = 1500;
constexpr std::uint16_t dns_port = 53;

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

SocketAddress to_system(const config::Endpoint& endpoint) {
  SocketAddress address;
  const auto text = endpoint.address.text();
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(endpoint.port);
    std::memcpy(&address.bytes, &v4, sizeof v4);
    address.size = sizeof v4;
  } else if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    std::memcpy(&address.bytes, &v6, sizeof v6);
    address.size = sizeof v6;
  }
  return address;
}

// A connected socket, or errno.
class Probe {
 public:
  Probe(const config::Endpoint& endpoint, int type) {
    const auto address = to_system(endpoint);
    fd_.reset(::socket(address.bytes.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd_) return;
    const auto* bytes = reinterpret_cast<const sockaddr*>(&address.bytes);
    is_there_ = ::connect(fd(), bytes, address.size) == 0 ||
                (errno == EINPROGRESS && becomes(POLLOUT) && !error());
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] bool is_there() const noexcept { return is_there_; }
  [[nodiscard]] bool becomes(short event) const {
    pollfd ready{fd(), event, 0};
    if (::poll(&ready, 1, patience_ms) == 1) return true;
    errno = ETIMEDOUT;
    return false;
  }

 private:
  [[nodiscard]] bool error() const {
    int problem = 0;
    socklen_t size = sizeof problem;
    ::getsockopt(fd(), SOL_SOCKET, SO_ERROR, &problem, &size);
    errno = problem;
    return problem != 0;
  }

  UniqueFd fd_;
  bool is_there_ = false;
};

// The daemon binds an address before it exists, such as the gateway of agents.
bool is_own_address(config::Endpoint endpoint) {
  endpoint.port = 0;
  const auto address = to_system(endpoint);
  const UniqueFd fd{::socket(address.bytes.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  const auto* bytes = reinterpret_cast<const sockaddr*>(&address.bytes);
  return !fd || ::bind(fd.get(), bytes, address.size) == 0 || errno != EADDRNOTAVAIL;
}

// Asks for the name servers of the root zone, which every resolver knows; any answer is enough.
bool answers_dns(const config::Endpoint& server) {
  const Probe probe{server, SOCK_DGRAM};
  if (!probe.is_there()) return false;
  constexpr std::array<unsigned char, 17> query{0x53, 0x54, 1, 0, 0, 1, 0, 0, 0,
                                                0,    0,    0, 0, 0, 2, 0, 1};
  if (::send(probe.fd(), query.data(), query.size(), 0) < 0) return false;
  std::array<unsigned char, 512> answer{};
  if (!probe.becomes(POLLIN)) return false;
  const auto size = ::recv(probe.fd(), answer.data(), answer.size(), 0);
  return size >= 12 && answer[0] == query[0] && answer[1] == query[1];
}

std::vector<config::Endpoint> servers_of_system() {
  std::vector<config::Endpoint> servers;
  std::ifstream file{"/etc/resolv.conf"};
  for (std::string line; std::getline(file, line);) {
    std::istringstream words{line};
    std::string key, value;
    if (!(words >> key >> value) || key != "nameserver") continue;
    if (const auto address = acl::Address::parse(value)) {
      servers.push_back({*address, dns_port, {}});
    }
  }
  return servers;
}

}  // namespace

void check_listeners(const config::Settings& settings, Findings& findings) {
  for (const auto& endpoint : settings.server.listen) {
    if (!endpoint.unix_path.empty()) continue;
    if (!is_own_address(endpoint)) {
      const bool is_gateway = endpoint.address == settings.netns.gateway;
      findings.push_back({"listener", FindingState::unsure,
                          endpoint.text() + ": this host does not have the address" +
                              (is_gateway ? " yet; stile-netns adds it with the first agent" : ""),
                          is_gateway ? "" : "ip address"});
      continue;
    }
    const Probe probe{endpoint, SOCK_STREAM};
    const auto problem = probe.is_there() ? std::string{} : ": " + error_text(errno);
    findings.push_back({"listener", probe.is_there() ? FindingState::good : FindingState::wrong,
                        endpoint.text() + (problem.empty() ? " takes connections" : problem),
                        problem.empty() ? "" : "journalctl -u stiled -n 50"});
  }
}

void check_dns(const config::Settings& settings, Findings& findings) {
  const bool is_of_system = settings.dns.servers.empty();
  const auto servers = is_of_system ? servers_of_system() : settings.dns.servers;
  const std::string where =
      is_of_system ? "cat /etc/resolv.conf" : "stile check   # and see [dns] servers";
  if (servers.empty()) {
    findings.push_back({"dns", FindingState::wrong, "no server is known", where});
  }
  for (const auto& server : servers) {
    const bool is_there = answers_dns(server);
    findings.push_back({"dns", is_there ? FindingState::good : FindingState::wrong,
                        server.text() + (is_there ? " answers" : " does not answer"),
                        is_there ? "" : where});
  }
}

}  // namespace stile::cli
