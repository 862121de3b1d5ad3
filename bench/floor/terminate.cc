// CONNECT opened with the least work: TLS with the client, TLS with the one origin (resumed), and
// what is inside relayed as it comes.
#include <openssl/err.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "bench/common/tls.h"
#include "bench/floor/sessions.h"

namespace stile::bench {
namespace {

constexpr std::string_view established = "HTTP/1.1 200 Connection established\r\n\r\n";
constexpr int burst = 16;
constexpr std::size_t record_bytes = 16384;

TlsSession last_session;  // with the one origin

int keep_session(SSL*, SSL_SESSION* session) {
  last_session.reset(session);
  return 1;
}

class Terminator : public Session {
 public:
  Terminator(Reactor& loop, const TerminateOptions& options) : loop_(loop), options_(options) {}

  void ready(Which, std::uint32_t events) override {
    if (phase_ == Phase::head) return read_head();
    if ((events & EPOLLERR) != 0) return loop_.end(*this);
    if (phase_ == Phase::handshakes && !shake_hands()) return;
    relay();
  }

 private:
  enum class Phase : std::uint8_t { head, handshakes, relaying };
  enum class Moved : std::uint8_t { waits, more, ended };

  void read_head() {
    std::array<char, 8192> buffer{};
    const ssize_t got = ::recv(client.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return loop_.end(*this);
    // The clients of the bench send the head in one piece and wait.
    if (!std::string_view{buffer.data(), static_cast<std::size_t>(got)}.ends_with("\r\n\r\n")) {
      return loop_.end(*this);
    }
    ::send(client.get(), established.data(), established.size(), MSG_NOSIGNAL);
    origin = dial(options_.origin, nullptr);
    if (!origin) return loop_.end(*this);
    client_tls_ = tls_accept(options_.server, client.get());
    origin_tls_ = tls_connect(options_.client, origin.get(), "origin.test", last_session.get());
    phase_ = Phase::handshakes;
    loop_.watch(*this, Which::origin);
  }

  // Both at once; true when both are done.
  bool shake_hands() {
    const bool client_done = shake(client_tls_.get());
    const bool origin_done = client && shake(origin_tls_.get());
    if (!client || !client_done || !origin_done) return false;
    phase_ = Phase::relaying;
    return true;
  }

  bool shake(SSL* ssl) {
    if (SSL_is_init_finished(ssl) == 1) return true;
    const int done = SSL_do_handshake(ssl);
    if (done == 1) return true;
    if (SSL_get_error(ssl, done) == SSL_ERROR_SYSCALL && errno == ENOTCONN)
      return false;  // dialling
    if (tls_wait(ssl, done) == TlsWait::ended) loop_.end(*this);
    return false;
  }

  void relay() {
    const Moved up = move(client_tls_.get(), origin_tls_.get(), up_);
    const Moved down = move(origin_tls_.get(), client_tls_.get(), down_);
    if (up == Moved::ended || down == Moved::ended) return end_both();
    if (up == Moved::more || down == Moved::more) loop_.again(*this, Which::client, 0);
  }

  Moved move(SSL* from, SSL* to, std::string& waiting) {
    static std::array<char, record_bytes> buffer;
    if (!waiting.empty()) {
      if (!write(to, waiting)) return Moved::ended;
      if (!waiting.empty()) return Moved::waits;
    }
    for (int i = 0; i < burst; ++i) {
      const int got = SSL_read(from, buffer.data(), buffer.size());
      if (got <= 0) {
        return tls_wait(from, got) == TlsWait::ended ? Moved::ended : Moved::waits;
      }
      const int sent = SSL_write(to, buffer.data(), got);
      if (sent <= 0 && tls_wait(to, sent) == TlsWait::ended) return Moved::ended;
      if (sent < got) {
        waiting.assign(buffer.data() + std::max(sent, 0),
                       static_cast<std::size_t>(got - std::max(sent, 0)));
        return Moved::waits;
      }
    }
    return Moved::more;
  }

  static bool write(SSL* to, std::string& waiting) {
    const int sent = SSL_write(to, waiting.data(), static_cast<int>(waiting.size()));
    if (sent <= 0) return tls_wait(to, sent) != TlsWait::ended;
    waiting.erase(0, static_cast<std::size_t>(sent));
    return true;
  }

  void end_both() {
    SSL_shutdown(client_tls_.get());
    SSL_shutdown(origin_tls_.get());
    ERR_clear_error();
    loop_.end(*this);
  }

  Reactor& loop_;
  const TerminateOptions& options_;
  Phase phase_ = Phase::head;
  Tls client_tls_;
  Tls origin_tls_;
  std::string up_;
  std::string down_;
};

}  // namespace

std::unique_ptr<Session> make_terminator(Reactor& loop, const TerminateOptions& options) {
  SSL_CTX_sess_set_new_cb(options.client, keep_session);
  return std::make_unique<Terminator>(loop, options);
}

}  // namespace stile::bench
