// PipePool: pipes for splice(2), lent to a relay only while bytes are in them.
#include "proxy/net/pipe_pool.h"

#include <fcntl.h>
#include <unistd.h>

namespace stile::net {
namespace {

// Larger than the default 64 KiB, which is full at a third of that with MSS-sized segments.
constexpr int pipe_bytes = 256 * 1024;
// A user above the pipe memory limit (fs.pipe-user-pages-soft) gets pipes of two pages. Splicing
// through those costs several times as much as copying.
constexpr int least_pipe_bytes = 64 * 1024;

}  // namespace

std::unique_ptr<Pipe> PipePool::borrow() {
  if (!kept_.empty()) {
    auto pipe = std::move(kept_.back());
    kept_.pop_back();
    return pipe;
  }
  auto pipe = std::make_unique<Pipe>();  // first: if this throws, no descriptor leaks
  int ends[2];
  if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return nullptr;
  pipe->read_end.reset(ends[0]);
  pipe->write_end.reset(ends[1]);
  if (::fcntl(ends[1], F_SETPIPE_SZ, pipe_bytes) < least_pipe_bytes &&
      ::fcntl(ends[1], F_GETPIPE_SZ) < least_pipe_bytes) {
    return nullptr;
  }
  return pipe;
}

void PipePool::give_back(std::unique_ptr<Pipe> pipe) noexcept {
  if (pipe && pipe->bytes == 0 && kept_.size() < max_kept) kept_.push_back(std::move(pipe));
}

}  // namespace stile::net
