#include "bench/load/tunnel.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>

namespace stile::bench {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) die(path);
  return {std::istreambuf_iterator<char>{file}, {}};
}

// Bytes of the whole answer, or 0 if that cannot be said yet.
std::size_t answer_bytes(std::string_view text) {
  const auto end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  constexpr std::string_view name = "\r\nContent-Length: ";
  const auto found = text.substr(0, end).find(name);
  std::size_t body = 0;
  if (found != std::string_view::npos) {
    std::from_chars(text.data() + found + name.size(), text.data() + end, body);
  }
  return end + 4 + body;
}

}  // namespace

Way::Way(const Flags& flags)
    : proxy(endpoint(flags.text("proxy", "127.0.0.1:3128"))),
      direct(flags.has("direct")),
      refused(flags.has("refused")),
      sources(static_cast<unsigned>(flags.number("sources", 1))) {
  const std::string target = flags.text("target", "origin.test:9443");
  head = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\nUser-Agent: loadgen\r\n\r\n";
  if (!refused) hello = read_file(flags.text("hello"));
}

void Tunnel::begin(unsigned source) {
  begun_ = Clock::now();
  answer_.clear();
  replied_ = 0;
  phase_ = Phase::dialling;
  const sockaddr_in from = agent_source(source % way_.sources);
  fd_ = dial(way_.proxy, &from);
  if (!fd_) return fail("connect");
  loop_.watch(fd_.get(), *this);
}

void Tunnel::close() {
  fd_.reset();
  phase_ = Phase::closed;
}

void Tunnel::fail(std::string_view why) {
  close();
  on_failed(why);
}

void Tunnel::on_ready(std::uint32_t events) {
  if (phase_ == Phase::open) return on_traffic(events);
  if (phase_ == Phase::dialling) {
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) return fail("connect");
    if ((events & EPOLLOUT) == 0) return;
    return way_.direct ? send(way_.hello, Phase::reply) : send(way_.head, Phase::head);
  }
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) == 0) return;
  if (phase_ == Phase::head) return read_head();
  if (phase_ == Phase::reply) return read_reply();
}

void Tunnel::send(std::string_view bytes, Phase next) {
  // A fresh socket takes a few hundred bytes at once.
  if (::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size())) {
    return fail("send");
  }
  phase_ = next;
}

void Tunnel::read_head() {
  static std::array<char, 16384> buffer;
  const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got < 0) return fail("reset before the answer");
  if (got == 0 && answer_.empty()) return fail("closed before the answer");
  answer_.append(buffer.data(), static_cast<std::size_t>(got));
  if (!answer_.starts_with("HTTP/1.") || answer_.size() < 12) return fail("no HTTP answer");
  const bool allowed = answer_.compare(9, 3, "200") == 0;
  if (allowed == way_.refused) return fail("status " + answer_.substr(9, 3));
  const auto whole = answer_bytes(answer_);
  if ((whole == 0 || answer_.size() < whole) && got != 0) return;
  if (allowed) return send(way_.hello, Phase::reply);
  phase_ = Phase::open;
  on_open();
}

void Tunnel::read_reply() {
  static std::array<char, reply_bytes> buffer;
  const ssize_t got = ::recv(fd_.get(), buffer.data(), reply_bytes - replied_, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got < 0) return fail("reset in the tunnel");
  if (got == 0) return fail("closed in the tunnel");
  replied_ += static_cast<std::size_t>(got);
  if (replied_ < reply_bytes) return;
  phase_ = Phase::open;
  on_open();
}

}  // namespace stile::bench
