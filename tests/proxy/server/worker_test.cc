// Worker: what is open has been judged by a new policy when judge_now() returns.
#include "proxy/server/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace stile::server {
namespace {

class Opened final : public session::Live {
 public:
  void judge_again(const acl::Snapshot& snapshot, bool) override {
    judged_by = snapshot.generation();
  }
  void close_if_cut() override { closed_after = judged_by.load(); }
  void drain() override {}
  void end() override { unlink(); }
  [[nodiscard]] bool describe(session::ConnectionInfo&) const override { return false; }

  std::atomic<std::uint64_t> judged_by{0}, closed_after{0};
};

std::shared_ptr<const acl::Snapshot> policy(std::uint64_t generation) {
  return std::make_shared<const acl::Snapshot>(
      generation, std::vector<std::shared_ptr<const acl::AgentPolicy>>{});
}

class WorkerTest : public testing::Test {
 protected:
  WorkerTest() {
    audit::Log::Options options;
    options.path = "/dev/null";
    log_ = *audit::Log::open(std::move(options));
    workers_.push_back(std::make_unique<Worker>(shared_, *log_, Worker::Options{}));
  }

  session::Shared shared_{policy(1), acl::Prefix{}};
  std::unique_ptr<audit::Log> log_;
  Workers workers_;
};

TEST_F(WorkerTest, AChangeIsInForceWhenItReturns) {
  Opened opened;
  Worker& worker = *workers_.front();
  worker.start();
  worker.post([&](session::Context& context) { context.live.push_back(opened); });
  for (std::uint64_t generation = 2; generation < 6; ++generation) {
    // The worker is busy, as with a long piece of another connection.
    worker.post(
        [](session::Context&) { std::this_thread::sleep_for(std::chrono::milliseconds{20}); });
    shared_.policy.swap(policy(generation));
    judge_now(workers_);
    EXPECT_EQ(opened.judged_by, generation);
    EXPECT_EQ(opened.closed_after, generation);
  }
  worker.stop();
}

}  // namespace
}  // namespace stile::server
