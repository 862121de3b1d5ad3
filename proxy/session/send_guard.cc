// SendGuard: keeps one agent from using up the send buffer of a socket that answers all agents.
#include "proxy/session/send_guard.h"

#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>

namespace stile::session {

SendGuard::Buffer SendGuard::buffer_of(int socket) noexcept {
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t size = sizeof memory;
  if (::getsockopt(socket, SOL_SOCKET, SO_MEMINFO, memory.data(), &size) != 0) return {};
  return {memory[SK_MEMINFO_WMEM_ALLOC], memory[SK_MEMINFO_SNDBUF]};
}

bool SendGuard::admits(const acl::Address& to, const Buffer& before, SteadyTime now) {
  if (!before.fills()) {
    holders_.clear();
    return true;
  }
  const auto found = holders_.find(to);
  if (found == holders_.end()) return holders_.size() < most_holders;
  if (before.used > found->second.used_before && now < found->second.until) return false;
  holders_.erase(found);  // its last answer has left the buffer
  return true;
}

void SendGuard::note_sent(const acl::Address& to, const Buffer& before, const Buffer& after,
                          SteadyTime now) {
  if (after.used > before.used) {
    holders_.insert_or_assign(to, Holder{before.used, now + retry_time});
  }
}

}  // namespace stile::session
