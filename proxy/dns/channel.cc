// DnsChannel: c-ares on a Loop.
#include "proxy/dns/channel.h"

#include <ares.h>
#include <sys/epoll.h>

#include <algorithm>
#include <exception>

namespace stile::dns {
namespace {

constexpr std::chrono::milliseconds watch_again{20};
constexpr int edns_bytes = 1232;

}  // namespace

Result<std::unique_ptr<DnsChannel>> DnsChannel::open(Loop& loop, const Options& options) {
  std::unique_ptr<DnsChannel> self{new DnsChannel{loop}};
  ares_options settings{};
  // No search domains: they would query another name than the one that was decided on.
  settings.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_EDNS |
                   (options.use_tcp ? ARES_FLAG_USEVC : 0);
  settings.timeout = static_cast<int>(options.try_timeout.count());
  settings.tries = 2;  // each try waits twice as long as the last: the lookup ends first
  settings.ednspsz = edns_bytes;
  settings.sock_state_cb = &DnsChannel::on_socket_state;
  settings.sock_state_cb_data = self.get();
  char lookups[] = "b";
  settings.lookups = lookups;
  // No domains: otherwise c-ares asks for the host's name, which a worker must not do.
  const int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_EDNSPSZ |
                   ARES_OPT_SOCK_STATE_CB | ARES_OPT_LOOKUPS | ARES_OPT_DOMAINS;
  if (const int status = ares_init_options(&self->channel_, &settings, mask);
      status != ARES_SUCCESS) {
    return Error{std::string{"resolver: "} + ares_strerror(status)};
  }
  if (const int status = ares_set_servers_ports_csv(self->channel_, options.servers.c_str());
      status != ARES_SUCCESS) {
    return Error{"resolver: servers " + options.servers + ": " + ares_strerror(status)};
  }
  return self;
}

DnsChannel::~DnsChannel() {
  if (channel_ != nullptr) ares_destroy(channel_);
}

void DnsChannel::query(const std::string& name, Rtype type, std::uint16_t id, Callback done) {
  const auto on_answer = [](void* argument, int, int, unsigned char* packet, int size) {
    const std::unique_ptr<Callback> callback{static_cast<Callback*>(argument)};
    try {
      (*callback)({packet, packet == nullptr ? 0 : static_cast<std::size_t>(size)});
    } catch (const std::exception&) {
      // No memory. The exception must not pass through c-ares, and the lookup has its own deadline.
    }
  };
  unsigned char* question = nullptr;
  int size = 0;
  const int status = ares_create_query(name.c_str(), 1 /* IN */, static_cast<int>(type), id,
                                       1 /* recursion */, &question, &size, edns_bytes);
  if (status != ARES_SUCCESS) return done({});
  const std::unique_ptr<unsigned char, decltype(&ares_free_string)> owner{question,
                                                                          &ares_free_string};
  ares_send(channel_, question, size, on_answer, new Callback{std::move(done)});
  schedule_timeout();
}

// c-ares opens and closes its sockets. It calls this with the events that it wants for a socket,
// and with (0, 0) right before it closes one.
void DnsChannel::on_socket_state(void* argument, int fd, int readable, int writable) {
  // No exception may pass through c-ares: there is room for more sockets than it opens.
  static_cast<DnsChannel*>(argument)->watch_for(fd,
                                                (readable != 0 ? std::uint32_t{EPOLLIN} : 0U) |
                                                    (writable != 0 ? std::uint32_t{EPOLLOUT} : 0U));
}

void DnsChannel::watch_for(int fd, std::uint32_t events) {
  std::erase_if(unwatched_, [fd](const Unwatched& socket) { return socket.fd == fd; });
  const auto known = std::find_if(sockets_.begin(), sockets_.end(),
                                  [fd](const SocketPtr& socket) { return socket->fd() == fd; });
  if (events == 0) {
    if (known != sockets_.end()) sockets_.erase(known);
  } else if (known != sockets_.end()) {
    loop_.change_level(**known, events);
  } else if (!watch(fd, events)) {
    // Otherwise c-ares would keep sending through a socket whose answers are never read, for as
    // long as a query is pending.
    unwatched_.push_back({fd, events});
  }
}

// False: no memory, here or in the kernel.
bool DnsChannel::watch(int fd, std::uint32_t events) noexcept {
  try {
    SocketPtr socket = loop_.borrow_level(fd, events);
    if (!socket) return false;
    socket->watch(this);
    sockets_.push_back(std::move(socket));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void DnsChannel::on_ready(Socket& socket) {
  const int fd = socket.fd();
  const int read_fd = socket.is_readable() ? fd : ARES_SOCKET_BAD;
  const int write_fd = socket.is_writable() ? fd : ARES_SOCKET_BAD;
  socket.clear_readable();
  socket.clear_writable();
  ares_process_fd(channel_, read_fd, write_fd);
  schedule_timeout();
}

void DnsChannel::on_deadline() {
  std::erase_if(unwatched_,
                [this](const Unwatched& socket) { return watch(socket.fd, socket.events); });
  ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  schedule_timeout();
}

void DnsChannel::schedule_timeout() {
  timeval wait{};
  if (ares_timeout(channel_, nullptr, &wait) == nullptr) {
    disarm();
    return;
  }
  std::chrono::milliseconds after = std::chrono::seconds{wait.tv_sec};
  after += std::chrono::milliseconds{wait.tv_usec / 1000 + 1};
  loop_.arm(*this, unwatched_.empty() ? after : std::min(after, watch_again));
}

}  // namespace stile::dns
