// PipePool: pipes that are worth splicing through, or none.
#include "proxy/net/pipe_pool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace stile::net {
namespace {

TEST(PipePool, LendsPipesThatHoldMuch) {
  PipePool pool;
  const auto pipe = pool.borrow();
  ASSERT_NE(pipe, nullptr);
  EXPECT_GE(::fcntl(pipe->write_end.get(), F_GETPIPE_SZ), 64 * 1024);
}

// As a user without the privilege to hold more: takes pipes until the pool lends no further one,
// and says whether the kernel would still have made small ones.
bool stops_at_small_pipes() {
  constexpr uid_t nobodys = 64123;  // has no pipes yet
  if (::setresuid(nobodys, nobodys, nobodys) != 0) return false;
  PipePool pool;
  std::vector<std::unique_ptr<Pipe>> taken;
  for (auto pipe = pool.borrow(); pipe && taken.size() < 400; pipe = pool.borrow()) {
    taken.push_back(std::move(pipe));
  }
  int ends[2];
  return taken.size() < 400 && ::pipe2(ends, O_CLOEXEC) == 0 &&
         ::fcntl(ends[1], F_GETPIPE_SZ) < 64 * 1024;
}

TEST(PipePool, LendsNoneWhenTheUserHoldsTooMuchPipeMemory) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, to become a user without pipes";
  const pid_t child = ::fork();
  if (child == 0) ::_exit(stops_at_small_pipes() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace stile::net
