// reach: checks whether an agent can reach the proxy's port.
#include "netns/reach.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <regex>

#include "base/inet_address.h"
#include "netns/namespaces.h"
#include "netns/nft.h"
#include "netns/ruleset.h"

namespace stile::netns {
namespace {

// Both ends are on this host. Tries more than once, since a device that was just set up drops
// packets until the kernel has noticed its carrier.
constexpr std::array patience_ms{10, 20, 40, 80, 160, 320, 640};

Reach try_once(const sockaddr_in& address, int patience) {
  const UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const linger reset_on_close{1, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &reset_on_close, sizeof reset_on_close);
  int error = 0;
  if (::connect(fd.get(), generic(address), sizeof address) != 0) {
    error = errno;
  }
  if (error == EINPROGRESS) {
    pollfd wait{fd.get(), POLLOUT, 0};
    if (::poll(&wait, 1, patience) <= 0) return Reach::silent;
    socklen_t size = sizeof error;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error == 0) return Reach::answered;
  return error == ECONNREFUSED ? Reach::refused : Reach::silent;
}

// A query of an operation that no server implements: each answers it, and asks for nothing.
Reach ask_once(const sockaddr_in& address, int patience) {
  constexpr std::array<char, 12> status_query{0, 1, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const UniqueFd fd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  std::array<char, 512> answer{};
  if (::connect(fd.get(), generic(address), sizeof address) != 0 ||
      ::send(fd.get(), status_query.data(), status_query.size(), 0) < 0) {
    return errno == ECONNREFUSED ? Reach::refused : Reach::silent;
  }
  pollfd wait{fd.get(), POLLIN, 0};
  if (::poll(&wait, 1, patience) <= 0) return Reach::silent;
  if (::recv(fd.get(), answer.data(), answer.size(), 0) >= 0) return Reach::answered;
  return errno == ECONNREFUSED ? Reach::refused : Reach::silent;
}

Result<Reach> reach(const Agent& agent, const sockaddr_in& address,
                    Reach (*attempt)(const sockaddr_in&, int)) {
  const auto namespace_fd = open_namespace(agent.id);
  if (!namespace_fd) return namespace_fd.error();
  if (!*namespace_fd) return Error{"there is no namespace " + namespace_path(agent.id)};
  const auto visit = NamespaceVisit::enter(**namespace_fd);
  if (!visit) return visit.error();
  for (const auto patience : patience_ms) {
    const auto outcome = attempt(address, patience);
    if (outcome != Reach::silent) return outcome;
  }
  return Reach::silent;
}

}  // namespace

Result<Reach> reach_proxy(const FenceHost& host, const Agent& agent) {
  const auto& settings = host.setup.netns;
  return reach(agent, inet_address(settings.gateway.v4_value(), settings.port), try_once);
}

Result<Reach> reach_names(const FenceHost& host, const Agent& agent) {
  constexpr std::uint16_t name_server_port = 53;
  return reach(agent, inet_address(host.setup.netns.gateway.v4_value(), name_server_port),
               ask_once);
}

std::vector<std::string> dropping_chains(std::string_view listing) {
  static const std::regex table_line{R"(table (\S+) (\S+) \{)"};
  static const std::regex chain_line{R"(\s*chain (\S+) \{)"};
  static const std::regex base_line{
      R"(\s*type filter hook (prerouting|input|output|postrouting) .*policy drop;.*)"};
  std::vector<std::string> found;
  std::string table;
  std::string chain;
  bool is_relevant = false;
  while (!listing.empty()) {
    const auto end = listing.find('\n');
    const std::string line{listing.substr(0, end)};
    listing = end == std::string_view::npos ? std::string_view{} : listing.substr(end + 1);
    std::smatch parts;
    if (std::regex_match(line, parts, table_line)) {
      table = parts.str(1) + " " + parts.str(2);
      is_relevant = (parts.str(1) == "inet" || parts.str(1) == "ip") && parts.str(2) != table_name;
    } else if (std::regex_match(line, parts, chain_line)) {
      chain = parts.str(1);
    } else if (is_relevant && std::regex_match(line, base_line)) {
      found.emplace_back(table).append(" ").append(chain);
    }
  }
  return found;
}

std::string reach_warning(const FenceHost& host, const Agent& agent) {
  const auto& settings = host.setup.netns;
  const auto reach = reach_proxy(host, agent);
  if (!reach) return reach.error().message;
  if (*reach != Reach::silent) return {};
  std::string suspects;
  if (const auto listing = list_nft("list chains")) {
    for (const auto& chain : dropping_chains(*listing)) {
      suspects += suspects.empty() ? " (" : ", ";
      suspects += chain;
    }
  }
  if (!suspects.empty()) suspects += ")";
  return "agents get no answer from " + settings.gateway.text() + ":" +
         std::to_string(settings.port) + ": a rule of the host" + suspects +
         " seems to drop it; let pass `iifname \"" + std::string{device_prefix} + "*\" ip daddr " +
         settings.gateway.text() + " tcp dport " + std::to_string(settings.port) + " accept`";
}

}  // namespace stile::netns
