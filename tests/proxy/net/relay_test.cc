// Relay: bytes arrive whole and in order, ends are passed on, budgets are not overdrawn.
#include "proxy/net/relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <random>
#include <thread>

#include "proxy/net/dialer.h"

namespace stile::net {
namespace {

struct TestRelay final : Relay {
  TestRelay(RelayResources& resources, SocketPtr client, SocketPtr origin)
      : TestRelay{resources, {client->fd(), origin->fd()}, client, origin} {}
  TestRelay(RelayResources& resources, std::array<int, 2> descriptors, SocketPtr& client,
            SocketPtr& origin)
      : Relay{resources, std::move(client), std::move(origin)},
        loop{resources.loop},
        fds{descriptors} {}
  using Relay::begin, Relay::freeze, Relay::resume, Relay::meter_up, Relay::meter_down,
      Relay::set_filtered;
  void on_end(End how) noexcept override {
    end = how;
    loop.stop();
    for (const int fd : fds) ::shutdown(fd, SHUT_RDWR);  // as its owner, who closes them
  }
  bool filter(bool, std::string_view, std::string&) override {
    calls += 'f';
    return true;
  }
  Loop& loop;
  std::array<int, 2> fds;
  std::optional<End> end;
  std::string calls;  // of the filter, and of whoever else writes here
};

class RelayTest : public testing::Test {
 protected:
  void SetUp() override {
    make(client_outside, client_inside);
    make(origin_outside, origin_inside);
  }
  static void make(UniqueFd& outside, UniqueFd& inside) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    outside.reset(ends[0]);
    inside.reset(ends[1]);
  }
  static std::string random_bytes(std::size_t size) {
    std::mt19937 random{42};
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    return bytes;
  }
  static void send_all(int fd, const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
  }
  static std::string receive_all(int fd) {
    std::string bytes;
    char buffer[65536];
    for (;;) {
      const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
      if (n <= 0) return bytes;
      bytes.append(buffer, static_cast<std::size_t>(n));
    }
  }
  SocketPtr adopt(UniqueFd& fd) {
    EXPECT_EQ(::fcntl(fd.get(), F_SETFL, O_NONBLOCK), 0);
    return loop.adopt(std::move(fd));
  }

  Loop loop;
  RelayResources resources{loop, {}, {}};
  UniqueFd client_outside, client_inside, origin_outside, origin_inside;
};

TEST_F(RelayTest, CarriesMegabytesBothWaysAndPassesOnBothEnds) {
  TestRelay relay{resources, adopt(client_inside), adopt(origin_inside)};
  const std::string up = random_bytes(5'000'000), down = random_bytes(7'000'000);
  std::string got_up, got_down;
  std::thread writer{[&] {
    send_all(client_outside.get(), up.substr(5));
    ::shutdown(client_outside.get(), SHUT_WR);
  }};
  std::thread reader{[&] { got_down = receive_all(client_outside.get()); }};
  std::thread origin_writer{[&] {
    send_all(origin_outside.get(), down);
    ::shutdown(origin_outside.get(), SHUT_WR);
  }};
  std::thread origin_reader{[&] { got_up = receive_all(origin_outside.get()); }};
  relay.begin(up.substr(0, 5), 0);
  loop.run([] { return false; });
  writer.join();
  reader.join();
  origin_writer.join();
  origin_reader.join();
  EXPECT_EQ(relay.end, Relay::End::finished);
  EXPECT_TRUE(got_up == up);
  EXPECT_TRUE(got_down == down);
  EXPECT_EQ(relay.bytes_up(), up.size());
  EXPECT_EQ(relay.bytes_down(), down.size());
}

TEST_F(RelayTest, LosesNothingWhenItIsFrozenAndResumedAgainAndAgain) {
  auto relay = std::make_unique<TestRelay>(resources, adopt(client_inside), adopt(origin_inside));
  const std::string up = random_bytes(5'000'000), down = random_bytes(7'000'000);
  std::string got_up, got_down;
  std::thread writer{[&] {
    send_all(client_outside.get(), up);
    ::shutdown(client_outside.get(), SHUT_WR);
  }};
  std::thread reader{[&] { got_down = receive_all(client_outside.get()); }};
  std::thread origin_writer{[&] {
    send_all(origin_outside.get(), down);
    ::shutdown(origin_outside.get(), SHUT_WR);
  }};
  std::thread origin_reader{[&] { got_up = receive_all(origin_outside.get()); }};
  relay->begin({}, 0);
  int turns = 0, moves = 0;
  loop.run([&] {
    if (relay->end || ++turns % 2 != 0) return false;
    FrozenRelay frozen = relay->freeze();
    relay.reset();
    ++moves;
    relay = std::make_unique<TestRelay>(resources, adopt(frozen.client), adopt(frozen.origin));
    relay->resume(frozen);
    return false;
  });
  writer.join();
  reader.join();
  origin_writer.join();
  origin_reader.join();
  EXPECT_EQ(relay->end, Relay::End::finished);
  EXPECT_TRUE(got_up == up);
  EXPECT_TRUE(got_down == down);
  EXPECT_EQ(relay->bytes_up(), up.size());
  EXPECT_EQ(relay->bytes_down(), down.size());
  EXPECT_GT(moves, 3);
}

TEST_F(RelayTest, OneDirectionFlowsOnAfterTheOtherHasEnded) {
  TestRelay relay{resources, adopt(client_inside), adopt(origin_inside)};
  std::string got_down;
  std::thread both{[&] {
    ::shutdown(client_outside.get(), SHUT_WR);
    char byte = 0;
    EXPECT_EQ(::recv(origin_outside.get(), &byte, 1, 0), 0) << "the end must reach the origin";
    send_all(origin_outside.get(), "still here");
    ::shutdown(origin_outside.get(), SHUT_WR);
    got_down = receive_all(client_outside.get());
  }};
  relay.begin({}, 0);
  loop.run([] { return false; });
  both.join();
  EXPECT_EQ(got_down, "still here");
  EXPECT_EQ(relay.end, Relay::End::finished);
}

TEST_F(RelayTest, BudgetCutsInTheMiddleAndIsNeverOverdrawn) {
  acl::Allowance budget{300'000};
  TestRelay relay{resources, adopt(client_inside), adopt(origin_inside)};
  relay.meter_up().draw_on(budget);
  std::string got_up;
  std::thread writer{[&] { send_all(client_outside.get(), random_bytes(5'000'000)); }};
  std::thread reader{[&] { got_up = receive_all(origin_outside.get()); }};
  relay.begin({}, 0);
  loop.run([] { return false; });
  EXPECT_EQ(relay.end, Relay::End::budget_spent);
  EXPECT_EQ(relay.bytes_up(), 300'000U);
  EXPECT_EQ(budget.left(), 0);
  ::shutdown(client_outside.get(), SHUT_RDWR);
  ::shutdown(origin_outside.get(), SHUT_RDWR);
  writer.join();
  reader.join();
  EXPECT_LE(got_up.size(), 300'000U);
}

TEST_F(RelayTest, FirstBytesBeyondTheBudgetAreNotSent) {
  acl::Allowance budget{3};
  TestRelay relay{resources, adopt(client_inside), adopt(origin_inside)};
  relay.meter_up().draw_on(budget);
  relay.begin("abcdef", 0);
  loop.run([] { return false; });
  EXPECT_EQ(relay.end, Relay::End::budget_spent);
  char buffer[16];
  EXPECT_EQ(::recv(origin_outside.get(), buffer, sizeof buffer, 0), 3);
}

// Puts more on record from the loop, as the daemon does, until there is nothing any more.
struct LoopRefill final : acl::Refill {
  LoopRefill(RelayResources& shared, acl::Allowance& of) : resources{shared}, allowance{of} {}
  void ask() noexcept override {
    resources.loop.post([this] {
      ++times;
      if (allowance.answer() && allowance.book(10'000)) allowance.settle(true);
      resources.paused.wake();
    });
  }
  RelayResources& resources;
  acl::Allowance& allowance;
  int times = 0;
};

TEST_F(RelayTest, WaitsForMoreToBeOnRecordAndGoesOn) {
  acl::Allowance budget;
  budget.lock(3'000'000);
  LoopRefill refill{resources, budget};
  budget.watch(&refill, 1000);
  TestRelay relay{resources, adopt(client_inside), adopt(origin_inside)};
  relay.meter_up().draw_on(budget);
  const std::string up = random_bytes(2'000'000);
  std::string got_up;
  std::thread writer{[&] {
    send_all(client_outside.get(), up.substr(30'000));
    ::shutdown(client_outside.get(), SHUT_WR);
  }};
  std::thread reader{[&] {
    got_up = receive_all(origin_outside.get());
    ::shutdown(origin_outside.get(), SHUT_WR);
  }};
  relay.begin(up.substr(0, 30'000), 0);
  loop.run([] { return false; });
  writer.join();
  reader.join();
  EXPECT_EQ(relay.end, Relay::End::finished);
  EXPECT_TRUE(got_up == up);
  EXPECT_EQ(budget.left(), 1'000'000);
  EXPECT_GE(refill.times, 200);
}

TEST_F(RelayTest, NothingIsSentWhileNothingIsOnRecord) {
  acl::Allowance budget;
  budget.lock(100);
  TestRelay relay{resources, adopt(client_inside), adopt(origin_inside)};
  relay.meter_up().draw_on(budget);
  send_all(client_outside.get(), "more");
  relay.begin("hello", 3);
  const auto book = [&](std::int64_t amount) {
    ASSERT_TRUE(budget.book(amount));
    budget.settle(true);
  };
  char buffer[16];
  const auto received = [&] {
    return ::recv(origin_outside.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  };
  int turns = 0;
  loop.run([&] {
    if (++turns >= 4) {
      loop.stop();
      return false;
    }
    EXPECT_EQ(received(), -1) << "five and three are needed";
    if (turns > 1) book(turns == 2 ? 7 : 1);
    resources.paused.wake();  // the first time for nothing
    EXPECT_EQ(received(), -1) << "all who wait are woken at once, and have to queue up";
    return true;
  });
  EXPECT_EQ(received(), 5);
  EXPECT_EQ(std::string(buffer, 5), "hello");
  EXPECT_FALSE(relay.end);
  EXPECT_EQ(budget.left(), 92);
}

struct Other final : Watcher {
  explicit Other(std::string& all) : calls{all} {}
  void on_ready(Socket& socket) override {
    socket.clear_readable();
    calls += 'o';
  }
  std::string& calls;
};

// Early data may be as much as the client likes, and costs more than what is spliced.
TEST_F(RelayTest, BulkThatIsFilteredComesAfterTheOthersToo) {
  TestRelay relay{resources, adopt(client_inside), adopt(origin_inside)};
  relay.set_filtered(true);
  UniqueFd outside, inside;
  make(outside, inside);
  SocketPtr other = adopt(inside);
  Other watcher{relay.calls};
  const std::string bulk(60'000, 'b');
  send_all(client_outside.get(), bulk);
  relay.begin({}, 0);
  int turns = 0;
  loop.run([&] {
    if (++turns == 1) {
      EXPECT_EQ(relay.calls, "f");
      other->watch(&watcher);
      send_all(client_outside.get(), bulk);
      send_all(outside.get(), "x");
    } else {
      loop.stop();
    }
    return false;
  });
  EXPECT_EQ(relay.calls, "fof");
}

TEST(Meter, TakesWhatTheTighterOfTwoAllowancesHasLeft) {
  acl::Allowance wide{1000}, tight{10};
  Meter meter;
  meter.draw_on(wide);
  meter.draw_on(tight);
  EXPECT_EQ(meter.take(100), 10U);
  EXPECT_EQ(wide.left(), 990);
  EXPECT_EQ(tight.left(), 0);
  meter.give_back(4);
  EXPECT_EQ(wide.left(), 994);
  EXPECT_EQ(tight.left(), 4);
}

TEST(Dialer, FamiliesTakeTurnsAndIPv6IsFirst) {
  const auto at = [](const char* text) { return *acl::Address::parse(text); };
  const std::vector<acl::Address> answer{at("192.0.2.1"), at("192.0.2.2"), at("192.0.2.3"),
                                         at("2001:db8::1"), at("2001:db8::2")};
  const std::vector<acl::Address> expected{at("2001:db8::1"), at("192.0.2.1"), at("2001:db8::2"),
                                           at("192.0.2.2"), at("192.0.2.3")};
  EXPECT_EQ(interleave_families(answer), expected);
}

}  // namespace
}  // namespace stile::net
