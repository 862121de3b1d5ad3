// Handover: messages, formats, and the link that carries them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "proxy/server/handover_link.h"
#include "proxy/server/handover_message.h"

namespace stile::server {
namespace {

Message example() {
  Message message;
  message.kind = Message::Kind::changed;
  message.first = 1;
  message.second = UINT64_MAX;
  message.flag = true;
  message.name = "[::1]:3128";
  message.agent = "alpha";
  message.text = std::string{"\0\xff", 2};
  message.list = {"alpha", "", "beta"};
  return message;
}

TEST(HandoverMessage, IsReadBackExactly) {
  const std::string bytes = pack(example());
  const auto read = unpack_message(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(pack(*read), bytes);
  EXPECT_EQ(read->list, example().list);
}

TEST(HandoverMessage, RefusesBytesThatAreCutAnywhereOrTooLong) {
  const std::string bytes = pack(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(unpack_message(bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(unpack_message(bytes + '\0'));
}

TEST(HandoverMessage, RefusesKindsThatItDoesNotKnow) {
  std::string bytes = pack(example());
  for (int kind = 0; kind < 256; ++kind) {
    bytes[0] = static_cast<char>(kind);
    EXPECT_EQ(unpack_message(bytes).has_value(), kind >= 1 && kind <= Message::last_kind) << kind;
  }
}

TEST(HandoverMessage, ChoosesTheNewestFormatThatBothKnow) {
  EXPECT_EQ(common_format(oldest_format, newest_format), newest_format);
  EXPECT_EQ(common_format(oldest_format, newest_format + 5), newest_format);
  EXPECT_EQ(common_format(1, 1), oldest_format == 1 ? 1 : 0);
  EXPECT_EQ(common_format(newest_format + 1, newest_format + 1), 0u);
  EXPECT_EQ(common_format(2, 1), 0u);
  EXPECT_EQ(common_format(0, 0), 0u);
}

TEST(HandoverLink, CarriesMessagesWithDescriptors) {
  auto pair = HandoverLink::make();
  ASSERT_TRUE(pair);
  HandoverLink other{std::move(pair->second)};
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const UniqueFd read_end{pipe[0]};
  const UniqueFd write_end{pipe[1]};
  ASSERT_TRUE(pair->first.send(example(), pipe));
  const auto received = other.receive(std::chrono::milliseconds{1000});
  ASSERT_TRUE(received.message) << received.problem;
  EXPECT_EQ(pack(*received.message), pack(example()));
  ASSERT_EQ(received.message->descriptors.size(), 2u);
  ASSERT_EQ(::write(received.message->descriptors[1].get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(read_end.get(), &byte, 1), 1);
  EXPECT_NE(::fcntl(received.message->descriptors[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(HandoverLink, TellsSilenceGarbageAndTheEndApart) {
  auto pair = HandoverLink::make();
  ASSERT_TRUE(pair);
  const auto silence = pair->first.receive({});
  EXPECT_TRUE(!silence.message && !silence.is_closed && silence.problem.empty());
  ASSERT_EQ(::send(pair->second.get(), "garbage", 7, 0), 7);
  const auto garbage = pair->first.receive(std::chrono::milliseconds{1000});
  EXPECT_TRUE(!garbage.message && !garbage.is_closed && !garbage.problem.empty());
  pair->second.reset();
  EXPECT_TRUE(pair->first.receive(std::chrono::milliseconds{1000}).is_closed);
  EXPECT_FALSE(pair->first.send(example()));
}

TEST(HandoverLink, LosesNoMessageThatWasSentBeforeItReceivesNoMore) {
  auto pair = HandoverLink::make();
  ASSERT_TRUE(pair);
  const HandoverLink other{std::move(pair->second)};
  ASSERT_TRUE(other.send(example()));
  EXPECT_TRUE(pair->first.receive_last().message);
  EXPECT_FALSE(other.send(example()));
  EXPECT_TRUE(pair->first.send(example()));  // the other way stays open
}

}  // namespace
}  // namespace stile::server
