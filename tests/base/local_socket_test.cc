// Unix sockets: addresses, pairs, messages with descriptors, the process at the other end.
#include "base/local_socket.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace stile {
namespace {

TEST(LocalSocket, HasNoAddressForAPathThatIsTooLong) {
  EXPECT_TRUE(unix_address(std::string(max_socket_path, 'x')));
  EXPECT_FALSE(unix_address(std::string(max_socket_path + 1, 'x')));
  EXPECT_FALSE(connect_unix(-1, std::string(max_socket_path + 1, 'x')));
  EXPECT_EQ(errno, ENAMETOOLONG);
}

TEST(LocalSocket, ListensInPlaceOfAnOlderSocket) {
  const std::string path = ::testing::TempDir() + "local_socket_test.sock";
  const auto older = listen_unix(path, 0177, 1);
  const auto newer = listen_unix(path, 0177, 1);
  ASSERT_TRUE(newer) << newer.error().message;
  const UniqueFd client{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  EXPECT_TRUE(connect_unix(client.get(), path));
  EXPECT_TRUE(wait_until_ready(newer->get(), POLLIN, 0));
  EXPECT_FALSE(wait_until_ready(older->get(), POLLIN, 0));
  ::unlink(path.c_str());
}

class LocalSocketPair : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = socket_pair(SOCK_SEQPACKET);
    ASSERT_TRUE(made);
    ends_ = std::move(*made);
  }
  [[nodiscard]] ReceivedMessage receive(std::size_t most_descriptors) {
    return receive_message(ends_.second.get(), room_, most_descriptors, MSG_DONTWAIT);
  }
  std::pair<UniqueFd, UniqueFd> ends_;
  std::array<char, 4> room_{};
};

TEST_F(LocalSocketPair, CarriesBytesAndDescriptors) {
  const std::array<int, 2> sent{ends_.first.get(), ends_.second.get()};
  ASSERT_EQ(send_message(ends_.first.get(), "abc", sent), 3);
  const auto received = receive(2);
  EXPECT_EQ(received.size, 3);
  EXPECT_EQ(std::string_view(room_.data(), 3), "abc");
  EXPECT_FALSE(received.is_cut);
  ASSERT_EQ(received.descriptors.size(), 2U);
  EXPECT_NE(received.descriptors[0].get(), sent[0]);
}

TEST_F(LocalSocketPair, TellsThatDescriptorsOrBytesHadNoRoom) {
  const std::array<int, 2> sent{STDIN_FILENO, STDOUT_FILENO};
  ASSERT_EQ(send_message(ends_.first.get(), "abc", sent), 3);
  EXPECT_TRUE(receive(0).is_cut);
  ASSERT_EQ(send_message(ends_.first.get(), "abcdef", {}), 6);
  const auto received = receive(0);
  EXPECT_TRUE(received.is_cut);
  EXPECT_TRUE(received.descriptors.empty());
}

TEST_F(LocalSocketPair, SendsNoMoreDescriptorsThanTheKernelTakes) {
  const std::vector<int> many(max_message_descriptors + 1, STDIN_FILENO);
  EXPECT_EQ(send_message(ends_.first.get(), "a", many), -1);
  EXPECT_EQ(receive(0).size, -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(LocalSocketPair, KnowsTheProcessAtTheOtherEnd) {
  const auto peer = peer_credentials(ends_.first.get());
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->pid, ::getpid());
  EXPECT_FALSE(peer_credentials(-1));
}

}  // namespace
}  // namespace stile
