// Observer: sees on the host's side where the packets of a probe go.
#include "netns/observer.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/system_error.h"
#include "netns/probe.h"

namespace stile::netns {

using namespace std::string_view_literals;  // NOLINT(google-build-using-namespace)

namespace {

constexpr int receive_buffer_bytes = 8 << 20;  // a busy host has much traffic
constexpr int mode = SOCK_NONBLOCK | SOCK_CLOEXEC;

constexpr std::array<std::pair<int, int>, 7> raw_sockets{{
    {AF_INET, IPPROTO_TCP},
    {AF_INET, IPPROTO_UDP},
    {AF_INET, IPPROTO_ICMP},
    {AF_INET, IPPROTO_SCTP},
    {AF_INET6, IPPROTO_TCP},
    {AF_INET6, IPPROTO_UDP},
    {AF_INET6, IPPROTO_ICMPV6},
}};

void enlarge(const UniqueFd& fd) {
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &receive_buffer_bytes,
               sizeof receive_buffer_bytes);
}

Result<std::pair<UniqueFd, std::uint16_t>> listen_anywhere() {
  UniqueFd fd{::socket(AF_INET, SOCK_STREAM | mode, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (!fd || ::bind(fd.get(), generic, size) != 0 || ::listen(fd.get(), 1) != 0 ||
      ::getsockname(fd.get(), generic, &size) != 0) {
    return system_error("cannot listen");
  }
  return std::pair{std::move(fd), ntohs(address.sin_port)};
}

}  // namespace

bool is_unreachable_error(std::string_view frame) noexcept {
  constexpr std::size_t ip_start = ETH_HLEN, shortest_ip = 20, protocol_at = 9;
  constexpr char unreachable = 3;
  if (frame.size() < ip_start + shortest_ip || frame.substr(ETH_ALEN * 2, 2) != "\x08\x00"sv) {
    return false;
  }
  const auto first = static_cast<unsigned char>(frame[ip_start]);
  const std::size_t icmp = ip_start + (first & 0x0fU) * 4U;
  return first >> 4U == 4 && frame[ip_start + protocol_at] == IPPROTO_ICMP && icmp < frame.size() &&
         frame[icmp] == unreachable;
}

Result<Observer> Observer::open(std::uint64_t run) {
  Observer observer{run};
  observer.devices_ = UniqueFd{::socket(AF_PACKET, SOCK_RAW | mode, htons(ETH_P_ALL))};
  if (!observer.devices_) return system_error("cannot open a packet socket");
  enlarge(observer.devices_);
  for (const auto& [family, protocol] : raw_sockets) {
    UniqueFd fd{::socket(family, SOCK_RAW | mode, protocol)};
    if (!fd && family == AF_INET6 && errno == EAFNOSUPPORT) continue;
    if (!fd) return system_error("cannot open a raw socket");
    enlarge(fd);
    observer.deliveries_.push_back(std::move(fd));
  }
  auto listener = listen_anywhere();
  if (!listener) return listener.error();
  observer.listener_ = std::move(listener->first);
  observer.port_ = listener->second;
  return observer;
}

std::vector<Sighting> Observer::look(int patience_ms) {
  std::vector<pollfd> wait{{devices_.get(), POLLIN, 0}};
  for (const auto& fd : deliveries_) wait.push_back({fd.get(), POLLIN, 0});
  ::poll(wait.data(), wait.size(), patience_ms);
  std::vector<Sighting> seen;
  std::array<char, 2048> buffer{};  // more than a probe or an answer to one needs
  const auto note = [&](ssize_t size, Sighting::Place place, int device) {
    const std::string_view bytes{buffer.data(), static_cast<std::size_t>(size)};
    if (const auto probe = find_token(bytes, run_)) seen.push_back({place, device, *probe});
  };
  for (const auto& fd : deliveries_) {
    ssize_t got = 0;
    while ((got = ::recv(fd.get(), buffer.data(), buffer.size(), 0)) >= 0) {
      note(got, Sighting::Place::reached, 0);
    }
  }
  while (true) {
    sockaddr_ll from{};
    socklen_t size = sizeof from;
    const auto got = ::recvfrom(devices_.get(), buffer.data(), buffer.size(), 0,
                                reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) return seen;
    const bool is_leaving = from.sll_pkttype == PACKET_OUTGOING;
    // A refusal repeats the packet that it refuses.
    if (is_leaving && is_unreachable_error({buffer.data(), static_cast<std::size_t>(got)}))
      continue;
    note(got, is_leaving ? Sighting::Place::left : Sighting::Place::arrived, from.sll_ifindex);
  }
}

}  // namespace stile::netns
