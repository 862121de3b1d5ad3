// The origin of opened tunnels: HTTP/1.1 over TLS. `GET /N` is answered with N bytes, any other
// method with 1 KiB after its body.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "bench/common/tls.h"
#include "bench/load/bulk_command.h"
#include "bench/load/loop.h"
#include "bench/load/scenarios.h"

namespace stile::bench {
namespace {

std::array<char, chunk_bytes> chunk;

std::uint64_t number_after(std::string_view text, std::string_view name) {
  const auto found = text.find(name);
  std::uint64_t value = 0;
  if (found != std::string_view::npos) {
    std::from_chars(text.data() + found + name.size(), text.data() + text.size(), value);
  }
  return value;
}

// Deletes itself at the end of its connection.
class Served final : public Watcher {
 public:
  Served(Loop& loop, SSL_CTX* context, Fd fd)
      : fd_(std::move(fd)), ssl_(tls_accept(context, fd_.get())) {
    loop.watch(fd_.get(), *this);
  }

  // Edge-triggered: goes on until TLS has to wait.
  void on_ready(std::uint32_t) override {
    for (;;) {
      const int moved = !SSL_is_init_finished(ssl_.get()) ? SSL_do_handshake(ssl_.get())
                        : to_send() > 0                   ? send()
                                                          : read();
      if (moved > 0) continue;
      if (tls_wait(ssl_.get(), moved) == TlsWait::ended) delete this;
      return;
    }
  }

 private:
  [[nodiscard]] std::uint64_t to_send() const { return head_out_.size() + body_out_; }

  int send() {
    if (!head_out_.empty()) {  // with the beginning of the body, as a server would
      const auto part = std::min<std::uint64_t>(body_out_, chunk.size() - head_out_.size());
      std::copy(head_out_.begin(), head_out_.end(), chunk.begin());
      const auto size = head_out_.size() + static_cast<std::size_t>(part);
      const int sent = SSL_write(ssl_.get(), chunk.data(), static_cast<int>(size));
      if (sent > 0) {
        const auto of_head =
            std::min<std::size_t>(static_cast<std::size_t>(sent), head_out_.size());
        head_out_.erase(0, of_head);
        body_out_ -= static_cast<std::uint64_t>(sent) - of_head;
      }
      return sent;
    }
    const auto part = std::min<std::uint64_t>(body_out_, chunk.size());
    const int sent = SSL_write(ssl_.get(), chunk.data(), static_cast<int>(part));
    if (sent > 0) body_out_ -= static_cast<std::uint64_t>(sent);
    return sent;
  }

  int read() {
    const int got = SSL_read(ssl_.get(), chunk.data(), chunk.size());
    if (got <= 0) return got;
    auto size = static_cast<std::uint64_t>(got);
    if (body_in_ > 0) {
      body_in_ -= std::min(body_in_, size);
      if (body_in_ == 0) answer(reply_bytes_);
      return got;
    }
    head_in_.append(chunk.data(), static_cast<std::size_t>(size));
    const auto end = head_in_.find("\r\n\r\n");
    if (end == std::string::npos) return got;
    const bool is_get = head_in_.starts_with("GET /");
    const std::uint64_t wanted = is_get ? number_after(head_in_, "GET /") : reply_bytes_;
    const std::uint64_t body = is_get ? 0 : number_after(head_in_, "\r\nContent-Length: ");
    body_in_ = body - std::min<std::uint64_t>(body, head_in_.size() - end - 4);
    head_in_.clear();
    if (body_in_ == 0) answer(wanted);
    return got;
  }

  void answer(std::uint64_t bytes) {
    head_out_ =
        "HTTP/1.1 200 OK\r\nServer: origin\r\nContent-Type: text/plain\r\nContent-Length: " +
        std::to_string(bytes) + "\r\n\r\n";
    body_out_ = bytes;
  }

  static constexpr std::uint64_t reply_bytes_ = 1024;

  Fd fd_;
  Tls ssl_;
  std::string head_in_;
  std::string head_out_;
  std::uint64_t body_in_ = 0;
  std::uint64_t body_out_ = 0;
};

class Listener final : public Watcher {
 public:
  Listener(Loop& loop, SSL_CTX* context, const std::string& at)
      : loop_(loop), context_(context), fd_(listen_on(endpoint(at))) {
    loop_.watch_level(fd_.get(), *this, EPOLLIN);
  }

  void on_ready(std::uint32_t) override {
    for (Fd fd = accept_from(fd_.get()); fd; fd = accept_from(fd_.get())) {
      new Served(loop_, context_, std::move(fd));
    }
  }

 private:
  Loop& loop_;
  SSL_CTX* context_;
  Fd fd_;
};

}  // namespace

int run_tls_origin(const Flags& flags) {
  chunk.fill('d');
  const TlsContext context = tls_server(flags.text("cert"), flags.text("key"));
  Loop loop;
  const Listener listener(loop, context.get(), flags.text("listen", "127.0.0.2:9444"));
  static_cast<void>(std::puts("ready"));
  static_cast<void>(std::fflush(stdout));
  for (;;) loop.turn(std::chrono::milliseconds{1000});
}

}  // namespace stile::bench
