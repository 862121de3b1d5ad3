// kill -9 of a writer at random moments: what it was told is written is there, and the log goes on.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>

#include "tests/audit/world.h"

namespace stile::audit {
namespace {

class AuditKilled : public AuditWorld {
 protected:
  AuditKilled()
      : told_{new (::mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Counter{0}} {}
  ~AuditKilled() override { ::munmap(told_, sizeof(Counter)); }

  // Never returns. told_ is what a proxy would have let out by now.
  [[noreturn]] void write_until_killed() {
    const auto opened = Log::open({.path = log_path_, .max_bytes = 100'000, .keep = 1000});
    if (!opened) ::_exit(1);
    Batch batch{Format::json};
    for (std::uint64_t turn = 0;; ++turn) {
      for (std::uint64_t i = 0; i <= turn % 40; ++i) batch.add(open_record(i));
      *told_ += (*opened)->write(batch);
    }
  }

  using Counter = std::atomic<std::uint64_t>;
  Counter* told_;  // shared with the child
};

TEST_F(AuditKilled, LosesNoLineThatItWasToldIsWritten) {
  std::mt19937_64 random{20261116};
  for (int round = 0; round < 50; ++round) {
    const std::uint64_t enough = *told_ + random() % 2000;
    const pid_t child = ::fork();
    if (child == 0) write_until_killed();
    while (*told_ <= enough && ::waitpid(child, nullptr, WNOHANG) == 0) ::sched_yield();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  const auto log = open_log();
  std::vector<std::string> files;
  for (int number = 1000; number > 0; --number) {
    const std::string name = log_path_ + "." + std::to_string(number);
    if (::access(name.c_str(), F_OK) == 0) files.push_back(name);
  }
  files.push_back(log_path_);
  const Verified verified = verify_files(files);
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_GE(log->head().seq, *told_);
  EXPECT_GT(*told_, 50u * 500u);
}

}  // namespace
}  // namespace stile::audit
