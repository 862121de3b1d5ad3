// CONNECT without a question asked: reads the head, dials the one origin, moves bytes.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "bench/floor/pump.h"
#include "bench/floor/sessions.h"

namespace stile::bench {
namespace {

constexpr std::string_view established = "HTTP/1.1 200 Connection established\r\n\r\n";
constexpr std::string_view refused =
    "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 8\r\n\r\nrefused\n";
constexpr std::size_t head_bytes = 8192;
constexpr std::uint32_t gone = EPOLLERR | EPOLLHUP;

class Relay : public Session {
 public:
  Relay(Reactor& loop, const RelayOptions& options) : loop_(loop), options_(options) {}

  void ready(Which side, std::uint32_t events) override {
    if (phase_ == Phase::head && side == Which::client) return read_head();
    if (phase_ == Phase::dialling && side == Which::origin) return dialled(events);
    if (phase_ == Phase::relaying) return relay(side, events);
    early_ = true;
  }

 private:
  enum class Phase : std::uint8_t { head, dialling, relaying };

  void read_head() {
    static std::array<char, head_bytes> buffer;
    const ssize_t got = ::recv(client.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return loop_.end(*this);
    std::string_view text{buffer.data(), static_cast<std::size_t>(got)};
    if (!head_.empty()) text = head_.append(text);
    const auto end = text.find("\r\n\r\n");
    if (end == std::string_view::npos) {
      if (text.size() >= head_bytes) return loop_.end(*this);
      if (head_.empty()) head_ = text;
      return;
    }
    if (options_.refuse) {
      ::send(client.get(), refused.data(), refused.size(), MSG_NOSIGNAL);
      return loop_.end(*this);
    }
    if (const auto rest = text.substr(end + 4); !rest.empty()) {
      up_.prepend(std::string{rest});
      early_ = true;
    }
    std::string{}.swap(head_);
    origin = dial(options_.origin, nullptr);
    if (!origin) return loop_.end(*this);
    phase_ = Phase::dialling;
    loop_.watch(*this, Which::origin);
  }

  void dialled(std::uint32_t events) {
    if ((events & gone) != 0) return loop_.end(*this);
    if ((events & EPOLLOUT) == 0) return;
    phase_ = Phase::relaying;
    ::send(client.get(), established.data(), established.size(), MSG_NOSIGNAL);
    // A client that did not wait for the answer gets no second edge.
    if (early_) move(Which::client, EPOLLRDHUP);
  }

  // A readable socket feeds the other one; a writable one is fed by the other.
  void relay(Which side, std::uint32_t events) {
    if ((events & EPOLLERR) != 0) return loop_.end(*this);
    if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) != 0) move(side, events);
    const Which other = side == Which::client ? Which::origin : Which::client;
    if (client && (events & EPOLLOUT) != 0 && blocked(other)) move(other, EPOLLIN | EPOLLRDHUP);
  }

  void move(Which from_side, std::uint32_t events) {
    const bool up = from_side == Which::client;
    if (up ? up_ended_ : down_ended_) return;
    Pump& pump = up ? up_ : down_;
    const int from = up ? client.get() : origin.get();
    const int to = up ? origin.get() : client.get();
    const auto result =
        options_.splice ? pump.splice(from, to) : pump.copy(from, to, (events & EPOLLRDHUP) != 0);
    (up ? up_blocked_ : down_blocked_) = result == Pump::Result::full;
    if (result == Pump::Result::unspent) loop_.again(*this, from_side, EPOLLIN | EPOLLRDHUP);
    if (result == Pump::Result::broken) loop_.end(*this);
    if (result == Pump::Result::finished) ended(up, to);
  }

  void ended(bool up, int to) {
    (up ? up_ended_ : down_ended_) = true;
    if (!options_.half_close || (up_ended_ && down_ended_)) return loop_.end(*this);
    ::shutdown(to, SHUT_WR);
  }

  [[nodiscard]] bool blocked(Which from) const {
    return from == Which::client ? up_blocked_ : down_blocked_;
  }

  Reactor& loop_;
  const RelayOptions& options_;
  std::string head_;
  Pump up_;
  Pump down_;
  Phase phase_ = Phase::head;
  bool early_ = false;
  bool up_ended_ = false;
  bool down_ended_ = false;
  bool up_blocked_ = false;
  bool down_blocked_ = false;
};

}  // namespace

std::unique_ptr<Session> make_relay(Reactor& loop, const RelayOptions& options) {
  return std::make_unique<Relay>(loop, options);
}

}  // namespace stile::bench
