// Log, between two processes: one chain, one writer.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "audit/line_relay.h"
#include "audit/log.h"
#include "base/pack.h"
#include "tests/audit/world.h"

namespace stile::audit {
namespace {

class AuditHandover : public AuditWorld {
 protected:
  Log::Options options() const {
    Log::Options options;
    options.path = log_path_;
    return options;
  }
  // As the kernel does it for a descriptor that is sent to another process.
  static UniqueFd copy(int fd) { return UniqueFd{::dup(fd)}; }
};

TEST_F(AuditHandover, TheChainGoesOnInTheNewProcessWithTheLinesOfTheOld) {
  const auto old = open_log();
  EXPECT_EQ(write(*old, {open_record(1)}), 1u);
  auto fresh = Log::inherit(options(), copy(old->descriptor()));
  ASSERT_TRUE(fresh) << fresh.error().message;
  EXPECT_EQ(write(*old, {open_record(2)}), 1u);  // it still writes
  const auto head = old->hold();
  ASSERT_TRUE((*fresh)->begin(head));
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  UniqueFd mine{ends[0]};
  const UniqueFd its{ends[1]};
  std::thread writer{[&] { write_relayed(its, **fresh); }};
  old->relay_to(std::move(mine));
  EXPECT_EQ(write(**fresh, {open_record(3)}), 1u);
  EXPECT_EQ(write(*old, {close_record(1), close_record(2)}), 2u);
  EXPECT_EQ(write(**fresh, {close_record(3)}), 1u);
  ::shutdown(its.get(), SHUT_RDWR);
  writer.join();
  EXPECT_EQ((*fresh)->head().seq, 6u);
  EXPECT_EQ(lines_of(log_path_).size(), 6u);
  EXPECT_EQ(verify_files({log_path_}).status, 0);
  // The new process is gone: nothing that needs a line may happen.
  EXPECT_EQ(write(*old, {open_record(4)}), 0u);
  EXPECT_TRUE(old->must_refuse());
  EXPECT_EQ(lines_of(log_path_).size(), 6u);
}

TEST_F(AuditHandover, WritersWaitUntilTheLogIsLetGo) {
  const auto log = open_log();
  static_cast<void>(log->hold());
  std::thread writer{[&] { EXPECT_EQ(write(*log, {open_record(1)}), 1u); }};
  EXPECT_TRUE(lines_of(log_path_).empty());
  log->let_go();
  writer.join();
  EXPECT_EQ(lines_of(log_path_).size(), 1u);
}

TEST_F(AuditHandover, AnotherFileThanTheOneOfTheConfigIsRefused) {
  const auto old = open_log();
  Log::Options other = options();
  other.path += ".other";
  EXPECT_FALSE(Log::inherit(other, copy(old->descriptor())));
}

TEST_F(AuditHandover, FramesThatAreCutAnywhereAreRefused) {
  const auto log = open_log();
  const std::string frame =
      Packer{}.flag(true).text("{\"a\":").text("1}").flag(false).text("b").text("c").take();
  Batch whole = log->new_batch();
  EXPECT_TRUE(read_frame(frame, whole));
  EXPECT_EQ(whole.size(), 2u);
  EXPECT_EQ(whole.piece(1).after, "c");
  for (std::size_t size = 1; size < frame.size(); ++size) {
    Batch batch = log->new_batch();
    // Cut between two pieces, the first one is whole.
    const bool is_read = read_frame(frame.substr(0, size), batch);
    EXPECT_TRUE(!is_read || batch.size() == 1) << size;
  }
}

}  // namespace
}  // namespace stile::audit
