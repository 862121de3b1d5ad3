// Scenario: requests inside opened tunnels. Each connection makes one request (a full or a resumed
// handshake) or many; requests are small, or bulk in one direction; or connections are only held.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/common/tls.h"
#include "bench/load/bulk_command.h"
#include "bench/load/loop.h"
#include "bench/load/report.h"
#include "bench/load/scenarios.h"

namespace stile::bench {
namespace {

std::array<char, chunk_bytes> chunk;

struct Run {
  Run(Report& to, TlsContext with) : report(to), context(std::move(with)) {}

  Report& report;
  TlsContext context;
  sockaddr_in proxy{};
  std::string connect_head;  // empty: TLS from the first byte
  std::string host;
  std::string request;       // the small one
  std::string bulk_request;  // empty: small ones only
  std::uint64_t bulk_up = 0;
  unsigned sources = 1;
  bool kept = false;
  bool resume = false;
  std::uint64_t warm_up = 0;
  std::uint64_t count = 0;
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  TlsSession session;

  [[nodiscard]] bool is_warm() const { return ended >= warm_up; }
};

Run* run_of(const SSL* ssl) {
  return static_cast<Run*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
}

int keep_session(SSL* ssl, SSL_SESSION* session) {
  run_of(ssl)->session.reset(session);
  return 1;
}

class Getter final : public Watcher {
 public:
  Getter(Loop& loop, Run& run, unsigned number)
      : loop_(loop), run_(run), source_(agent_source(number % run.sources)) {}

  void begin() {
    // In bulk, all connections are opened by a small request first, and then begin together.
    const bool waits = !run_.bulk_request.empty() && run_.begun >= run_.warm_up && !run_.is_warm();
    if (waits || run_.begun >= run_.warm_up + run_.count) return;
    bulk_ = !run_.bulk_request.empty() && run_.begun >= run_.warm_up;
    ++run_.begun;
    begun_ = Clock::now();
    answer_.clear();
    answer_left_ = 0;
    to_send_ = bulk_ ? run_.bulk_request : run_.request;
    up_left_ = bulk_ ? run_.bulk_up : 0;
    if (ssl_) {
      phase_ = Phase::request;
      return work();
    }
    ssl_.reset();
    fd_ = dial(run_.proxy, &source_);
    if (!fd_) return end("connect");
    phase_ = Phase::dialling;
    loop_.watch(fd_.get(), *this);
  }

  [[nodiscard]] bool is_idle() const { return phase_ == Phase::idle; }

  void on_ready(std::uint32_t events) override {
    if (phase_ == Phase::idle) return;
    if (phase_ == Phase::dialling) {
      if ((events & (EPOLLERR | EPOLLHUP)) != 0) return end("connect");
      if ((events & EPOLLOUT) == 0) return;
      if (run_.connect_head.empty()) return start_tls();
      phase_ = Phase::head;
      if (::send(fd_.get(), run_.connect_head.data(), run_.connect_head.size(), MSG_NOSIGNAL) < 0) {
        return end("send");
      }
      return;
    }
    if (phase_ == Phase::head) return read_head();
    work();
  }

 private:
  enum class Phase { idle, dialling, head, handshake, request, answer };

  void read_head() {
    const ssize_t got = ::recv(fd_.get(), chunk.data(), chunk.size(), 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return end("closed before CONNECT was answered");
    answer_.append(chunk.data(), static_cast<std::size_t>(got));
    if (!answer_.ends_with("\r\n\r\n")) return;
    if (answer_.size() < 12 || answer_.compare(9, 3, "200") != 0) return end("CONNECT refused");
    answer_.clear();
    start_tls();
  }

  void start_tls() {
    ssl_ = tls_connect(run_.context.get(), fd_.get(), run_.host,
                       run_.resume ? run_.session.get() : nullptr);
    phase_ = Phase::handshake;
    work();
  }

  void work() {
    for (;;) {
      const int moved = phase_ == Phase::handshake ? SSL_do_handshake(ssl_.get())
                        : phase_ == Phase::request ? send()
                                                   : read();
      if (moved <= 0) {
        if (tls_wait(ssl_.get(), moved) == TlsWait::ended) end("TLS ended");
        return;
      }
      if (phase_ == Phase::handshake) phase_ = Phase::request;
      if (phase_ == Phase::idle || is_done_) {
        is_done_ = false;
        return;
      }
    }
  }

  int send() {
    const bool is_head = !to_send_.empty();
    const auto size = is_head ? to_send_.size() : std::min<std::uint64_t>(up_left_, chunk.size());
    const int sent =
        SSL_write(ssl_.get(), is_head ? to_send_.data() : chunk.data(), static_cast<int>(size));
    if (sent <= 0) return sent;
    if (is_head) {
      to_send_.erase(0, static_cast<std::size_t>(sent));
    } else {
      up_left_ -= static_cast<std::uint64_t>(sent);
    }
    if (to_send_.empty() && up_left_ == 0) phase_ = Phase::answer;
    return sent;
  }

  int read() {
    const int got = SSL_read(ssl_.get(), chunk.data(), chunk.size());
    if (got <= 0) return got;
    auto size = static_cast<std::uint64_t>(got);
    if (answer_left_ == 0) {
      answer_.append(chunk.data(), static_cast<std::size_t>(size));
      const auto head = answer_.find("\r\n\r\n");
      if (head == std::string::npos) return got;
      if (answer_.compare(9, 3, "200") != 0) return fail("status " + answer_.substr(9, 3), got);
      constexpr std::string_view name =
          "ontent-Length: ";  // haproxy writes a small c, and a small l
      auto at = answer_.find(name);
      if (at == std::string::npos) at = answer_.find("ontent-length: ");
      if (at > head) return fail("no length", got);
      std::from_chars(answer_.data() + at + name.size(), answer_.data() + head, answer_left_);
      size = answer_.size() - head - 4;
    }
    answer_left_ -= std::min(answer_left_, size);
    if (answer_left_ == 0) fail({}, got);
    return got;
  }

  int fail(std::string_view why, int result) {
    is_done_ = true;
    end(why);
    return result;
  }

  void end(std::string_view why) {
    const bool good = why.empty();
    if (good) {
      run_.report.done(begun_);
      if (bulk_) run_.report.moved(std::max(run_.bulk_up, bulk_down()));
    } else {
      run_.report.failed(why);
    }
    phase_ = Phase::idle;
    if (!good || !run_.kept) {
      if (ssl_ && good) SSL_shutdown(ssl_.get());
      ssl_.reset();
      fd_.reset();
    }
    if (++run_.ended == run_.warm_up) run_.report.start();
  }

  [[nodiscard]] std::uint64_t bulk_down() const {
    std::uint64_t bytes = 0;
    if (run_.bulk_up == 0) {
      std::from_chars(run_.bulk_request.data() + 5,
                      run_.bulk_request.data() + run_.bulk_request.size(), bytes);
    }
    return bytes;
  }

  Loop& loop_;
  Run& run_;
  sockaddr_in source_;
  Fd fd_;
  Tls ssl_;
  Phase phase_ = Phase::idle;
  bool bulk_ = false;
  bool is_done_ = false;
  Clock::time_point begun_;
  std::string answer_;
  std::uint64_t answer_left_ = 0;
  std::string to_send_;
  std::uint64_t up_left_ = 0;
};

std::string request_head(std::string_view line, const std::string& authority,
                         std::uint64_t body_bytes) {
  std::string head{line};
  head += " HTTP/1.1\r\nHost: " + authority + "\r\nUser-Agent: loadgen\r\nAccept: */*\r\n";
  if (body_bytes > 0) head += "Content-Length: " + std::to_string(body_bytes) + "\r\n";
  return head + "\r\n";
}

}  // namespace

int run_tls_get(const Flags& flags) {
  chunk.fill('u');
  Loop loop;
  Report report(flags.text("pids"));
  const std::string target = flags.text("target", "origin.test:9444");
  const auto concurrency = flags.number("concurrency", 64);
  const bool bulk = flags.has("bytes");
  Run run(report, tls_client(flags.text("trust")));
  run.proxy = endpoint(flags.text("proxy", "127.0.0.1:3128"));
  if (!flags.has("direct")) {
    run.connect_head = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n";
  }
  run.host = target.substr(0, target.find(':'));
  run.request = request_head("GET /1024", target, 0);
  run.sources = static_cast<unsigned>(flags.number("sources", 1));
  run.kept = flags.has("kept") || bulk;
  run.resume = flags.has("resume");
  run.warm_up = bulk ? concurrency : flags.number("warm-up", 0);
  run.count = bulk ? concurrency : flags.number("count", 10000);
  if (bulk) {
    const auto each = flags.number("bytes", 0) / concurrency;
    run.bulk_up = flags.has("up") ? each : 0;
    run.bulk_request = flags.has("up") ? request_head("PUT /sink", target, each)
                                       : request_head("GET /" + std::to_string(each), target, 0);
  }
  SSL_CTX_set_app_data(run.context.get(), &run);
  SSL_CTX_sess_set_new_cb(run.context.get(), keep_session);
  std::vector<std::unique_ptr<Getter>> getters;
  for (unsigned i = 0; i < concurrency; ++i) {
    getters.push_back(std::make_unique<Getter>(loop, run, i));
  }
  const auto deadline = Clock::now() + std::chrono::seconds{flags.number("seconds", 60)};
  while (run.ended < run.warm_up + run.count && Clock::now() < deadline) {
    for (const auto& getter : getters) {
      if (getter->is_idle()) getter->begin();
    }
    loop.turn(std::chrono::milliseconds{100});
  }
  report.stop();
  if (run.ended < run.warm_up + run.count) report.failed("timeout");
  report.print();
  if (!flags.has("hold")) return 0;
  while (std::getchar() != EOF) {
  }
  return 0;
}

}  // namespace stile::bench
