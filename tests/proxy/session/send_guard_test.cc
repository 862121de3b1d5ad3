// SendGuard: who is still answered when a send buffer fills.
#include "proxy/session/send_guard.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/unique_fd.h"

namespace stile::session {
namespace {

using Buffer = SendGuard::Buffer;

constexpr std::size_t size = 200'000, datagram = 768;
const SteadyTime start{std::chrono::hours{1}};

const acl::Address honest = *acl::Address::parse("10.200.0.2");
const acl::Address holder = *acl::Address::parse("10.200.0.3");

// Sends as the name server does; `holds`: the datagram stays in the buffer.
bool send(SendGuard& guard, const acl::Address& to, std::size_t& used, bool holds,
          SteadyTime now = start) {
  const Buffer before{used, size};
  if (!guard.admits(to, before, now)) return false;
  if (holds) used += datagram;
  if (before.fills()) guard.note_sent(to, before, Buffer{used, size}, now);
  return true;
}

TEST(SendGuard, KeepsRoomForOthersWhatEverOneHolds) {
  SendGuard guard;
  std::size_t used = 0;
  for (int i = 0; i < 1000; ++i) {
    static_cast<void>(send(guard, holder, used, true));
    EXPECT_TRUE(send(guard, honest, used, false));
  }
  EXPECT_LT(used, size / 4 + 2 * datagram);
}

TEST(SendGuard, AnswersAgainWhenTheLastAnswerHasLeft) {
  SendGuard guard;
  std::size_t used = size / 2;
  EXPECT_TRUE(send(guard, holder, used, true));
  EXPECT_FALSE(send(guard, holder, used, true));
  used -= datagram;
  EXPECT_TRUE(send(guard, holder, used, false));
  EXPECT_TRUE(send(guard, holder, used, false));
}

TEST(SendGuard, AnswersAgainAfterAMinute) {
  SendGuard guard;
  std::size_t used = size / 2;
  EXPECT_TRUE(send(guard, honest, used, true));
  EXPECT_FALSE(send(guard, honest, used, true, start + SendGuard::retry_time / 2));
  EXPECT_TRUE(send(guard, honest, used, true, start + SendGuard::retry_time));
}

TEST(SendGuard, ForgetsAllWhenTheBufferIsEmpty) {
  SendGuard guard;
  std::size_t used = size / 2;
  EXPECT_TRUE(send(guard, holder, used, true));
  used = 0;
  EXPECT_TRUE(send(guard, holder, used, false));
  used = size / 2;
  EXPECT_TRUE(send(guard, holder, used, true));
}

TEST(SendGuard, AnUnknownBufferAdmits) {
  SendGuard guard;
  EXPECT_TRUE(guard.admits(honest, SendGuard::buffer_of(-1), start));
}

TEST(SendGuard, ReadsTheBufferOfASocket) {
  const UniqueFd socket{::socket(AF_INET, SOCK_DGRAM, 0)};
  const Buffer buffer = SendGuard::buffer_of(socket.get());
  EXPECT_EQ(buffer.used, 0);
  EXPECT_GT(buffer.size, 0);
}

}  // namespace
}  // namespace stile::session
