// WaitingClients: which client gives way.
#include "base/waiting_clients.h"

#include <gtest/gtest.h>

#include <string>

namespace stile {
namespace {

class WaitingClientsTest : public testing::Test {
 protected:
  void add(const char& name, bool is_known) {
    clients.add(&name, is_known, [this, &name] { closed += name; });
  }
  WaitingClients clients;
  std::string closed;
  static constexpr char a = 'a', b = 'b', c = 'c';
};

TEST_F(WaitingClientsTest, ClosesTheOneThatHasWaitedForLongest) {
  add(a, false);
  add(b, false);
  EXPECT_TRUE(clients.close_one());
  EXPECT_TRUE(clients.close_one());
  EXPECT_EQ(closed, "ab");
}

TEST_F(WaitingClientsTest, ClosesAKnownClientOnlyIfAllAreKnown) {
  add(a, true);
  add(b, false);
  add(c, true);
  while (clients.close_one()) continue;
  EXPECT_EQ(closed, "bac");
}

TEST_F(WaitingClientsTest, LeavesThoseAloneThatAreServed) {
  add(a, false);
  clients.remove(&a);
  EXPECT_FALSE(clients.close_one());
  EXPECT_EQ(closed, "");
}

TEST_F(WaitingClientsTest, CountsAClientThatWaitsAgainOnceAndAsTheLast) {
  add(a, false);
  add(b, false);
  add(a, false);
  EXPECT_EQ(clients.size(), 2);
  while (clients.close_one()) continue;
  EXPECT_EQ(closed, "ba");
}

}  // namespace
}  // namespace stile
