// DnsChannel: c-ares on a Loop; hides all of c-ares.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "proxy/base/loop.h"
#include "proxy/dns/answer.h"

struct ares_channeldata;

namespace stile::dns {

class DnsChannel final : private Watcher, private Deadline {
 public:
  struct Options {
    std::string servers;  // "address:port,[v6]:port"
    std::chrono::milliseconds try_timeout{700};
    bool use_tcp = false;
  };
  // The packet is empty if none arrived (timeout, refused, destroyed).
  using Callback = std::function<void(std::span<const std::uint8_t> packet)>;

  // From any thread, also one that must not open files: c-ares then has no randomness for its own
  // ids, which are not used.
  static Result<std::unique_ptr<DnsChannel>> open(Loop& loop, const Options& options);
  ~DnsChannel();  // calls back for all pending queries, without a packet

  // `id` is the unpredictable number that the answer must have.
  void query(const std::string& name, Rtype type, std::uint16_t id, Callback done);

 private:
  explicit DnsChannel(Loop& loop) : loop_{loop} { unwatched_.reserve(16); }
  static void on_socket_state(void* self, int fd, int readable, int writable);
  void watch_for(int fd, std::uint32_t events);
  [[nodiscard]] bool watch(int fd, std::uint32_t events) noexcept;
  void on_ready(Socket& socket) override;
  void on_deadline() override;
  void schedule_timeout();

  struct Unwatched {
    int fd;
    std::uint32_t events;
  };

  Loop& loop_;
  ares_channeldata* channel_ = nullptr;
  std::vector<SocketPtr> sockets_;    // c-ares owns the descriptors; a handful at most
  std::vector<Unwatched> unwatched_;  // those that epoll refused, to be retried
};

}  // namespace stile::dns
