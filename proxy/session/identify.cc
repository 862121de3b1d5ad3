// identify: the agent that a connection or a question comes from.
#include "proxy/session/identify.h"

#include <sys/socket.h>

#include "base/unique_fd.h"

namespace stile::session {
namespace {

// The network namespace of a socket; 0 if the kernel cannot tell.
std::uint64_t namespace_of(int fd) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
#ifdef SO_NETNS_COOKIE
  if (::getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) != 0) cookie = 0;
#else
  static_cast<void>(fd);
  static_cast<void>(size);
#endif
  return cookie;
}

}  // namespace

bool is_in_another_namespace(int fd) {
  const UniqueFd own{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  return own && namespace_of(fd) != namespace_of(own.get());
}

std::shared_ptr<const acl::AgentPolicy> identify(const acl::Snapshot& snapshot,
                                                 const Audience& audience,
                                                 const net::SockAddr& from) {
  const bool is_ip = from.family() == AF_INET || from.family() == AF_INET6;
  const auto* owner =
      is_ip && !audience.is_elsewhere ? snapshot.by_source(from.address().unmapped()) : nullptr;
  if (!audience.agent) return owner != nullptr ? *owner : nullptr;
  const auto* listed = snapshot.by_id(*audience.agent);
  if (listed == nullptr || (owner != nullptr && owner->get() != listed->get())) return nullptr;
  return *listed;
}

}  // namespace stile::session
