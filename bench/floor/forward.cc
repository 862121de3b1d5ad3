// Keep-alive GETs with the least work: one origin connection per client, the target rewritten.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>

#include "bench/floor/sessions.h"

namespace stile::bench {
namespace {

constexpr std::size_t buffer_bytes = 16384;
constexpr std::string_view length_name = "\r\nContent-Length: ";

class Forwarder : public Session {
 public:
  Forwarder(Reactor& loop, const sockaddr_in& origin_address) : loop_(loop), to_(origin_address) {}

  void ready(Which side, std::uint32_t events) override {
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) return loop_.end(*this);
    if (side == Which::origin && !connected_) {
      if ((events & EPOLLOUT) == 0) return;
      connected_ = true;
      send_request();
    }
    if ((events & (EPOLLIN | EPOLLRDHUP)) == 0) return;
    side == Which::client ? read_request() : pass_response();
  }

 private:
  // Puts what has arrived into the shared buffer; empty: nothing or the end, which ends the
  // session.
  std::string_view receive(int fd) {
    static std::array<char, buffer_bytes> buffer;
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got > 0) return {buffer.data(), static_cast<std::size_t>(got)};
    if (got == 0 || errno != EAGAIN) loop_.end(*this);
    return {};
  }

  void read_request() {
    const auto text = receive(client.get());
    if (text.empty()) return;
    request_ += text;
    if (request_.find("\r\n\r\n") == std::string::npos) {
      if (request_.size() >= buffer_bytes) loop_.end(*this);
      return;
    }
    // "GET http://host/path …" becomes "GET /path …".
    const auto authority = request_.find("://");
    const auto path = request_.find('/', authority + 3);
    if (authority == std::string::npos || path == std::string::npos) return loop_.end(*this);
    request_.replace(0, path, "GET ");
    if (connected_) return send_request();
    origin = dial(to_, nullptr);
    if (!origin) return loop_.end(*this);
    loop_.watch(*this, Which::origin);
  }

  void send_request() {
    if (request_.empty()) return;
    const ssize_t sent = ::send(origin.get(), request_.data(), request_.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(request_.size())) return loop_.end(*this);
    request_.clear();
    left_ = 0;
  }

  // Only whole small answers are wanted here: one that the client does not take at once is an end.
  void pass_response() {
    const auto text = receive(origin.get());
    if (text.empty()) return;
    if (left_ == 0 && !read_length(text)) return loop_.end(*this);
    if (text.size() > left_) return loop_.end(*this);
    left_ -= text.size();
    if (::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(text.size())) {
      loop_.end(*this);
    }
  }

  bool read_length(std::string_view text) {
    const auto end = text.find("\r\n\r\n");
    const auto name = text.find(length_name);
    if (end == std::string_view::npos || name > end) return false;
    const char* const digits = text.data() + name + length_name.size();
    if (std::from_chars(digits, text.data() + end, left_).ec != std::errc{}) return false;
    left_ += end + 4;
    return true;
  }

  Reactor& loop_;
  const sockaddr_in& to_;
  std::string request_;
  std::size_t left_ = 0;  // bytes of the answer under way that are still to come
  bool connected_ = false;
};

}  // namespace

std::unique_ptr<Session> make_forwarder(Reactor& loop, const sockaddr_in& origin) {
  return std::make_unique<Forwarder>(loop, origin);
}

}  // namespace stile::bench
