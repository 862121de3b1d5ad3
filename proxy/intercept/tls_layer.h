// TlsLayer: TLS over a stream's socket, with Stile as the server or the client.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proxy/intercept/openssl.h"
#include "proxy/net/stream.h"

namespace stile::intercept {

// Takes what a server sends to resume its session later.
class SessionKeeper {
 public:
  virtual ~SessionKeeper() = default;
  virtual void keep(SessionPtr session, bool is_resumed) = 0;
};

class TlsLayer final : public net::Stream::Layer {
 public:
  enum class Step : std::uint8_t { done, wait, failed };

  // `first` was already read from the socket and comes before what the socket has. The client's
  // end may have a `keeper`.
  TlsLayer(Socket& socket, SslPtr ssl, std::string first,
           std::unique_ptr<SessionKeeper> keeper = nullptr);
  ~TlsLayer() override;
  TlsLayer(const TlsLayer&) = delete;
  TlsLayer& operator=(const TlsLayer&) = delete;

  // Goes on with the handshake as far as the socket allows. `wait`: flush if there is something
  // unsent, else wait until the socket is readable. After `failed` the alert is unsent: its audit
  // line comes first.
  [[nodiscard]] Step handshake() noexcept;
  // Why it failed: the client offers other protocols than HTTP/1.1 only.
  [[nodiscard]] bool lacks_http1() const noexcept { return lacks_http1_; }

  // For SSL_CTX_sess_set_new_cb() of the client's end.
  static int keep_session(SSL* ssl, SSL_SESSION* session) noexcept;

  [[nodiscard]] net::Stream::IoResult read(char* buffer, std::size_t size) noexcept override;
  [[nodiscard]] net::Stream::IoResult write(const char* data, std::size_t size) noexcept override;
  [[nodiscard]] bool has_unsent() const noexcept override { return sent_ < out_.size(); }
  [[nodiscard]] net::Stream::IoResult flush() noexcept override;
  [[nodiscard]] bool has_input() noexcept override;
  void end_output() noexcept override;

 private:
  static BIO_METHOD* bio_method() noexcept;
  static int bio_read(BIO* bio, char* buffer, int size) noexcept;
  static int bio_write(BIO* bio, const char* data, int size) noexcept;
  static long bio_ctrl(BIO* bio, int command, long number, void* pointer) noexcept;
  static void note_record(int is_written, int version, int kind, const void* data, std::size_t size,
                          SSL* ssl, void* layer) noexcept;
  void begin_read() noexcept;
  [[nodiscard]] net::Stream::IoResult result_of(int returned) noexcept;
  void keep_readable() noexcept;

  Socket& socket_;
  std::unique_ptr<SessionKeeper> keeper_;
  SslPtr ssl_;
  std::string first_;
  std::string out_;          // records to be sent
  std::size_t sent_ = 0;     // of out_
  bool is_writing_ = false;  // data: an alert of the handshake waits for its audit line
  bool is_reading_ = false;
  std::optional<std::size_t> step_left_;  // of a step of the handshake: to be read
  unsigned without_data_ = 0;             // records of the current read
  bool saw_end_ = false, has_failed_ = false, lacks_http1_ = false;
};

}  // namespace stile::intercept
