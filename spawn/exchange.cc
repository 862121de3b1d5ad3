// Exchange: one request to a worker's keeper.
#include "spawn/exchange.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "base/local_socket.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "spawn/event_source.h"

namespace stile::spawn {
namespace {

constexpr std::size_t max_answer_bytes = 1U << 20U;

// Owns itself until it has called back.
class Exchange {
 public:
  Exchange(UniqueFd fd, std::string line, Answered answered)
      : fd_{std::move(fd)}, out_{std::move(line) + '\n'}, answered_{std::move(answered)} {}

  static void begin(std::unique_ptr<Exchange> exchange, sd_event* loop,
                    std::chrono::seconds longest) {
    auto* self = exchange.get();
    self->self_ = std::move(exchange);
    self->ready_ = add_io(loop, self->fd_.get(), EPOLLOUT, on_ready, self);
    self->timer_ = add_timer(loop, longest, on_time, self);
    if (!self->ready_ || !self->timer_) self->finish(Error{"the spawner has no memory"});
  }

 private:
  static int on_ready(sd_event_source* /*source*/, int /*fd*/, std::uint32_t /*events*/,
                      void* userdata) {
    auto& self = *static_cast<Exchange*>(userdata);
    if (!self.out_.empty()) {
      self.send();
    } else {
      self.receive();
    }
    return 0;
  }

  static int on_time(sd_event_source* /*source*/, std::uint64_t /*now*/, void* userdata) {
    static_cast<Exchange*>(userdata)->finish(Error{"the worker does not answer"});
    return 0;
  }

  void send() {
    const auto sent = ::send(fd_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent < 0) return finish(system_error("the worker takes no request"));
    out_.erase(0, static_cast<std::size_t>(sent));
    if (out_.empty()) sd_event_source_set_io_events(ready_.get(), EPOLLIN);
  }

  void receive() {
    std::array<char, 65536> bytes;
    const auto got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return finish(Error{"the worker has ended"});
    in_.append(bytes.data(), static_cast<std::size_t>(got));
    if (in_.size() > max_answer_bytes) return finish(Error{"the worker's answer is too long"});
    const auto end = in_.find('\n');
    if (end != std::string::npos) finish(text_result(in_.substr(0, end)));
  }

  void finish(const Result<std::string>& result) {
    const auto self = std::move(self_);  // deleted at the end
    if (self) answered_(result);
  }

  UniqueFd fd_;
  std::string out_, in_;
  Answered answered_;
  EventSource ready_, timer_;
  std::unique_ptr<Exchange> self_;
};

}  // namespace

void exchange(sd_event* loop, const std::string& socket, std::string line,
              std::chrono::seconds longest, Answered answered) {
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!fd) return answered(Error{"cannot connect to the worker"});
  if (!connect_unix(fd.get(), socket)) {
    return answered(system_error("the worker takes no request"));
  }
  Exchange::begin(std::make_unique<Exchange>(std::move(fd), std::move(line), std::move(answered)),
                  loop, longest);
}

}  // namespace stile::spawn
