// Scenario: GETs of 1 KiB on kept connections, to one host or to many in turn; a connection that
// the proxy closes is dialled again.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "bench/load/loop.h"
#include "bench/load/report.h"
#include "bench/load/scenarios.h"

namespace stile::bench {
namespace {

struct Run {
  Report& report;
  sockaddr_in proxy;
  std::vector<std::string> requests;  // one per host
  unsigned sources = 1;
  std::uint64_t warm_up = 0;
  std::uint64_t count = 0;
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  std::uint64_t dialled = 0;
};

class Getter final : public Watcher {
 public:
  Getter(Loop& loop, Run& run, unsigned source)
      : loop_(loop), run_(run), source_(agent_source(source % run.sources)), next_(source) {}

  void begin() {
    if (run_.begun >= run_.warm_up + run_.count) return fd_.reset();
    ++run_.begun;
    begun_ = Clock::now();
    answer_.clear();
    ++next_;
    fd_ ? ask() : dial_again();
  }

  void on_ready(std::uint32_t events) override {
    if (dialling_) {
      if ((events & (EPOLLERR | EPOLLHUP)) != 0) return end("connect");
      if ((events & EPOLLOUT) == 0) return;
      dialling_ = false;
      return ask();
    }
    if ((events & (EPOLLIN | EPOLLRDHUP)) != 0) read();
  }

 private:
  void dial_again() {
    ++run_.dialled;
    fd_ = dial(run_.proxy, &source_);
    if (!fd_) return end("connect");
    dialling_ = true;
    loop_.watch(fd_.get(), *this);
  }

  void ask() {
    const std::string& request = run_.requests[next_ % run_.requests.size()];
    if (::send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL) ==
        static_cast<ssize_t>(request.size())) {
      return;
    }
    fd_.reset();
    dial_again();  // the proxy had closed the kept connection
  }

  void read() {
    static std::array<char, 8192> buffer;
    const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return closed();
    answer_.append(buffer.data(), static_cast<std::size_t>(got));
    if (answer_.size() < 12 || answer_.compare(9, 3, "200") != 0) return end("status");
    const auto head = answer_.find("\r\n\r\n");
    if (head == std::string::npos) return;
    if (answer_.size() - head - 4 >= body_bytes) end({});
  }

  void closed() {
    fd_.reset();
    if (answer_.empty() && !retried_) {  // closed while we asked: once more on a new one
      retried_ = true;
      return dial_again();
    }
    end("closed before the answer");
  }

  void end(std::string_view why) {
    retried_ = false;
    if (why.empty()) {
      run_.report.done(begun_);
      if (answer_.find("\r\nConnection: close\r\n") != std::string::npos) fd_.reset();
    } else {
      run_.report.failed(why);
      dialling_ = false;
      fd_.reset();
    }
    if (++run_.ended == run_.warm_up) run_.report.start();
    begin();
  }

  static constexpr std::size_t body_bytes = 1024;

  Loop& loop_;
  Run& run_;
  sockaddr_in source_;
  std::size_t next_;  // the host of the request
  Fd fd_;
  bool dialling_ = false;
  bool retried_ = false;
  Clock::time_point begun_;
  std::string answer_;
};

// With --hosts N, the requests are for h0.TARGET to hN-1.TARGET in turn.
std::vector<std::string> requests_for(const Flags& flags) {
  const std::string target = flags.text("target", "origin.test:9080");
  const auto hosts = flags.number("hosts", 0);
  std::vector<std::string> requests;
  for (std::uint64_t i = 0; i < std::max<std::uint64_t>(hosts, 1); ++i) {
    const std::string host = hosts > 0 ? "h" + std::to_string(i) + "." + target : target;
    const std::string url = flags.has("origin-form") ? "/x" : "http://" + host + "/x";
    requests.push_back("GET " + url + " HTTP/1.1\r\nHost: " + host +
                       "\r\nUser-Agent: loadgen\r\nAccept: */*\r\n\r\n");
  }
  return requests;
}

}  // namespace

int run_get(const Flags& flags) {
  Loop loop;
  Report report(flags.text("pids"));
  Run run{report,
          endpoint(flags.text("proxy", "127.0.0.1:3128")),
          requests_for(flags),
          static_cast<unsigned>(flags.number("sources", 1)),
          flags.number("warm-up", 0),
          flags.number("count", 10000)};
  std::vector<std::unique_ptr<Getter>> getters;
  for (unsigned i = 0; i < flags.number("concurrency", 64); ++i) {
    getters.push_back(std::make_unique<Getter>(loop, run, i));
    getters.back()->begin();
  }
  const auto deadline = Clock::now() + std::chrono::seconds{flags.number("seconds", 60)};
  while (run.ended < run.warm_up + run.count && Clock::now() < deadline) {
    loop.turn(std::chrono::milliseconds{100});
  }
  report.stop();
  if (run.ended < run.warm_up + run.count) report.failed("timeout");
  report.print();
  return 0;
}

}  // namespace stile::bench
