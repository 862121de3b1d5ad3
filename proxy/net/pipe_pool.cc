// PipePool: pipes for splice(2), lent to a relay only while bytes are in them.
#include "proxy/net/pipe_pool.h"

#include <fcntl.h>
#include <unistd.h>

namespace stile::net {
namespace {

// Larger than the default 64 KiB, which MSS-sized segments fill at a third of it. If the user's
// share of pipe memory is spent, the kernel keeps the default size.
constexpr int pipe_bytes = 256 * 1024;

}  // namespace

std::unique_ptr<Pipe> PipePool::borrow() {
  if (!kept_.empty()) {
    auto pipe = std::move(kept_.back());
    kept_.pop_back();
    return pipe;
  }
  auto pipe = std::make_unique<Pipe>();  // first: without memory no descriptor is left over
  int ends[2];
  if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return nullptr;
  pipe->read_end.reset(ends[0]);
  pipe->write_end.reset(ends[1]);
  static_cast<void>(::fcntl(ends[1], F_SETPIPE_SZ, pipe_bytes));
  return pipe;
}

void PipePool::give_back(std::unique_ptr<Pipe> pipe) noexcept {
  if (pipe && pipe->bytes == 0 && kept_.size() < max_kept) kept_.push_back(std::move(pipe));
}

}  // namespace stile::net
