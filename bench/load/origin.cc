// The origins behind every contender: one that speaks after a TLS hello, one that serves GETs.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "bench/load/bulk_command.h"
#include "bench/load/loop.h"
#include "bench/load/scenarios.h"
#include "bench/load/tunnel.h"

namespace stile::bench {
namespace {

std::array<char, chunk_bytes> chunk;

// A ServerHello that asks for no second hello, and application data up to the size agreed on.
std::string server_reply() {
  std::string reply{"\x16\x03\x03\x00\x2a\x02\x00\x00\x26\x03\x03", 11};
  reply.append(32, 'r');                                  // random
  reply.append(std::string_view{"\x00\x13\x01\x00", 4});  // no session id, AES-128-GCM
  const std::size_t rest = reply_bytes - reply.size() - 5;
  reply.append(std::string_view{"\x17\x03\x03", 3});
  reply.push_back(static_cast<char>(rest >> 8U));
  reply.push_back(static_cast<char>(rest & 0xffU));
  reply.append(rest, 'd');
  return reply;
}

// Deletes itself at the end of its connection.
class TlsConnection final : public Watcher {
 public:
  TlsConnection(Loop& loop, Fd fd) : loop_(loop), fd_(std::move(fd)) {
    loop_.watch(fd_.get(), *this);
  }

  void on_ready(std::uint32_t events) override {
    if (phase_ == Phase::source && (events & EPOLLOUT) != 0) return push();
    if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) != 0) read();
  }

 private:
  enum class Phase { hello, command, source, sink };

  void read() {
    const int flags = phase_ == Phase::sink ? MSG_TRUNC : 0;
    const ssize_t got = ::recv(fd_.get(), chunk.data(), chunk.size(), flags);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return delete this;
    if (phase_ == Phase::sink) return swallow(static_cast<std::uint64_t>(got));
    if (phase_ == Phase::source) return;
    early_.append(chunk.data(), static_cast<std::size_t>(got));
    if (phase_ == Phase::hello) return answer_hello();
    obey();
  }

  void answer_hello() {
    static const std::string reply = server_reply();
    if (early_.size() < 5) return;
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(early_[at]); };
    if (early_.size() < 5U + byte(3) * 256U + byte(4)) return;
    std::string{}.swap(early_);
    phase_ = Phase::command;
    ::send(fd_.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
  }

  void obey() {
    BulkCommandBytes bytes{};
    if (early_.size() < bytes.size()) return;
    std::copy_n(early_.begin(), bytes.size(), bytes.begin());
    const BulkCommand command = decode(bytes);
    left_ = command.bytes;
    phase_ = command.direction == Direction::up ? Phase::sink : Phase::source;
    loop_.watch_level(fd_.get(), *this, phase_ == Phase::sink ? EPOLLIN : EPOLLOUT);
    if (phase_ == Phase::sink) swallow(early_.size() - bytes.size());
  }

  void swallow(std::uint64_t bytes) {
    if (left_ == 0) return;
    left_ -= std::min(left_, bytes);
    if (left_ == 0) ::send(fd_.get(), "!", 1, MSG_NOSIGNAL);  // the receipt
  }

  void push() {
    const auto size = std::min<std::uint64_t>(left_, chunk.size());
    const ssize_t sent = ::send(fd_.get(), chunk.data(), size, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN ? void() : delete this;
    left_ -= static_cast<std::uint64_t>(sent);
    if (left_ > 0) return;
    phase_ = Phase::sink;
    loop_.watch_level(fd_.get(), *this, EPOLLIN);
  }

  Loop& loop_;
  Fd fd_;
  Phase phase_ = Phase::hello;
  std::string early_;
  std::uint64_t left_ = 0;
};

class HttpConnection final : public Watcher {
 public:
  HttpConnection(Loop& loop, Fd fd) : fd_(std::move(fd)) { loop.watch(fd_.get(), *this); }

  void on_ready(std::uint32_t events) override {
    if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) == 0) return;
    static const std::string answer =
        "HTTP/1.1 200 OK\r\nServer: origin\r\nContent-Type: text/plain\r\n"
        "Content-Length: 1024\r\n\r\n" +
        std::string(1024, 'x');
    const ssize_t got = ::recv(fd_.get(), chunk.data(), chunk.size(), 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return delete this;
    head_.append(chunk.data(), static_cast<std::size_t>(got));
    if (!head_.ends_with("\r\n\r\n")) return;
    head_.clear();
    ::send(fd_.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
  }

 private:
  Fd fd_;
  std::string head_;
};

template <class Connection>
class Listener final : public Watcher {
 public:
  Listener(Loop& loop, const std::string& at) : loop_(loop), fd_(listen_on(endpoint(at))) {
    loop_.watch_level(fd_.get(), *this, EPOLLIN);
  }

  void on_ready(std::uint32_t) override {
    for (Fd fd = accept_from(fd_.get()); fd; fd = accept_from(fd_.get())) {
      new Connection(loop_, std::move(fd));  // deletes itself
    }
  }

 private:
  Loop& loop_;
  Fd fd_;
};

}  // namespace

int run_origin(const Flags& flags) {
  Loop loop;
  const Listener<TlsConnection> tls(loop, flags.text("tls", "127.0.0.2:9443"));
  const Listener<HttpConnection> http(loop, flags.text("http", "127.0.0.2:9080"));
  static_cast<void>(std::puts("ready"));
  static_cast<void>(std::fflush(stdout));
  for (;;) loop.turn(std::chrono::milliseconds{1000});
}

}  // namespace stile::bench
