#include "bench/floor/pump.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "bench/common/socket.h"

namespace stile::bench {

struct Pipe {
  Fd in;
  Fd out;
  std::size_t held_bytes = 0;
};

namespace {

constexpr std::size_t buffer_bytes = 256UL * 1024;
constexpr int pipe_bytes = 1024 * 1024;
constexpr int burst = 16;
constexpr std::size_t pooled_pipes = 64;

std::vector<std::unique_ptr<Pipe>> pool;

std::unique_ptr<Pipe> take_pipe() {
  if (!pool.empty()) {
    auto pipe = std::move(pool.back());
    pool.pop_back();
    return pipe;
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) die("pipe2");
  auto pipe = std::make_unique<Pipe>();
  pipe->out = Fd{ends[0]};
  pipe->in = Fd{ends[1]};
  ::fcntl(pipe->in.get(), F_SETPIPE_SZ, pipe_bytes);  // a smaller one works too
  return pipe;
}

void give_back(std::unique_ptr<Pipe> pipe) {
  if (pool.size() < pooled_pipes && pipe->held_bytes == 0) pool.push_back(std::move(pipe));
}

bool would_block() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

Pump::Pump() = default;
Pump::~Pump() = default;

void Pump::prepend(std::string bytes) { text_ = std::make_unique<std::string>(std::move(bytes)); }

Pump::Result Pump::flush_text(int to) {
  if (!text_) return Result::finished;
  const ssize_t sent = ::send(to, text_->data(), text_->size(), MSG_NOSIGNAL);
  if (sent < 0) return would_block() ? Result::full : Result::broken;
  text_->erase(0, static_cast<std::size_t>(sent));
  if (!text_->empty()) return Result::full;
  text_.reset();
  return Result::finished;
}

Pump::Result Pump::copy(int from, int to, bool ending) {
  static std::array<char, buffer_bytes> buffer;
  if (const Result flushed = flush_text(to); flushed != Result::finished) return flushed;
  for (int i = 0; i < burst; ++i) {
    const ssize_t got = ::recv(from, buffer.data(), buffer.size(), 0);
    if (got == 0) return Result::finished;
    if (got < 0) return would_block() ? Result::dry : Result::broken;
    ssize_t sent = ::send(to, buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
    if (sent < 0 && !would_block()) return Result::broken;
    if (sent < got) {
      sent = sent < 0 ? 0 : sent;
      prepend({buffer.data() + sent, static_cast<std::size_t>(got - sent)});
      return Result::full;
    }
    if (static_cast<std::size_t>(got) < buffer.size() && !ending) return Result::dry;
  }
  return Result::unspent;
}

Pump::Result Pump::flush_pipe(int to) {
  while (pipe_->held_bytes > 0) {
    const ssize_t sent = ::splice(pipe_->out.get(), nullptr, to, nullptr, pipe_->held_bytes,
                                  SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (sent < 0) return would_block() ? Result::full : Result::broken;
    pipe_->held_bytes -= static_cast<std::size_t>(sent);
  }
  return Result::finished;
}

Pump::Result Pump::splice(int from, int to) {
  if (const Result flushed = flush_text(to); flushed != Result::finished) return flushed;
  if (!pipe_) pipe_ = take_pipe();
  Result result = flush_pipe(to);
  for (int i = 0; result == Result::finished && i < burst; ++i) {
    const ssize_t got =
        ::splice(from, nullptr, pipe_->in.get(), nullptr, static_cast<std::size_t>(pipe_bytes),
                 SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (got <= 0) {
      const bool blocked = got < 0 && would_block();
      give_back(std::move(pipe_));
      if (got == 0) return Result::finished;
      return blocked ? Result::dry : Result::broken;
    }
    pipe_->held_bytes += static_cast<std::size_t>(got);
    result = flush_pipe(to);
  }
  return result == Result::finished ? Result::unspent : result;
}

}  // namespace stile::bench
