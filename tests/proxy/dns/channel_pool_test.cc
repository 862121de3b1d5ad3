// Source ports: names that hang keep no port in use for the queries of others.
#include "proxy/dns/channel_pool.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <set>

namespace stile::dns {
namespace {

// A server that answers nothing: every query stays under way.
class SilentServer {
 public:
  SilentServer() : fd_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)} {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    EXPECT_EQ(::bind(fd_.get(), generic(), size), 0);
    EXPECT_EQ(::getsockname(fd_.get(), generic(), &size), 0);
  }
  [[nodiscard]] std::string text() const {
    return "127.0.0.1:" + std::to_string(ntohs(address_.sin_port));
  }
  struct Question {
    std::uint16_t port, id;
  };
  Question next() {
    sockaddr_in from{};
    socklen_t size = sizeof from;
    std::array<std::uint8_t, 512> packet{};
    EXPECT_GT(::recvfrom(fd_.get(), packet.data(), packet.size(), 0,
                         reinterpret_cast<sockaddr*>(&from), &size),
              12);
    return {ntohs(from.sin_port), static_cast<std::uint16_t>(packet[0] << 8 | packet[1])};
  }

 private:
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&address_); }
  UniqueFd fd_;
  sockaddr_in address_{};
};

struct PoolTest : ::testing::Test {
  Loop loop;
  SilentServer server;
  int ended = 0;
  std::unique_ptr<ChannelPool> pool =
      *ChannelPool::open(loop, {server.text(), std::chrono::seconds{60}, false});

  SilentServer::Question ask(std::uint16_t id) {
    pool->query("hangs.test", Rtype::a, id, [this](auto packet) {
      EXPECT_TRUE(packet.empty());
      ++ended;
    });
    return server.next();
  }
};

TEST_F(PoolTest, APortServesANumberOfQueriesWhateverHangs) {
  std::multiset<std::uint16_t> ports;
  for (std::uint16_t i = 0; i < 200; ++i) ports.insert(ask(i).port);
  for (const auto port : ports) EXPECT_LE(ports.count(port), ChannelPool::queries_per_port);
  pool.reset();
  EXPECT_EQ(ended, 200);
}

TEST_F(PoolTest, TheIdOfAQueryIsTheOneThatWasGiven) {
  for (const int id : {0, 1, 0x1234, 0xffff}) {
    EXPECT_EQ(ask(static_cast<std::uint16_t>(id)).id, id);
  }
}

TEST_F(PoolTest, TheNumberOfChannelsIsBounded) {
  const std::size_t queries = ChannelPool::queries_per_port * (ChannelPool::max_channels + 2);
  for (std::size_t i = 0; i < queries; ++i) static_cast<void>(ask(1));
  EXPECT_EQ(pool->size(), ChannelPool::max_channels);
}

}  // namespace
}  // namespace stile::dns
