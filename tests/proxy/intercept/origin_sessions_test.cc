// OriginSessions: which TLS session is resumed, and for how long.
#include <gtest/gtest.h>

#include "proxy/intercept/interceptor.h"

namespace stile::intercept {
namespace {

using std::chrono::minutes;

constexpr std::uint64_t trust = 1;
const SteadyTime start{std::chrono::hours{1}};

SessionPtr session() { return SessionPtr{SSL_SESSION_new()}; }

TEST(OriginSessions, ResumesUnderTheSameKeyAndTrust) {
  OriginSessions sessions;
  sessions.put("alpha a.test:443", trust, session(), start);
  EXPECT_NE(sessions.get("alpha a.test:443", trust, start).session, nullptr);
  EXPECT_EQ(sessions.get("beta a.test:443", trust, start).session, nullptr);
  EXPECT_EQ(sessions.get("alpha a.test:8443", trust, start).session, nullptr);
  EXPECT_EQ(sessions.get("alpha a.test:443", trust + 1, start).session, nullptr);
}

// However often it is renewed by tickets of resumed connections.
TEST(OriginSessions, EndsTenMinutesAfterTheCertificateWasVerified) {
  OriginSessions sessions;
  sessions.put("k", trust, session(), start);
  for (int i = 0; i < 9; ++i) {
    const auto kept = sessions.get("k", trust, start + minutes{i});
    ASSERT_NE(kept.session, nullptr);
    EXPECT_EQ(kept.verified, start);
    sessions.put("k", trust, session(), kept.verified);
  }
  EXPECT_EQ(sessions.get("k", trust, start + OriginSessions::most_age).session, nullptr);
}

TEST(OriginSessions, ForgetsTheOldestWhenItIsFull) {
  OriginSessions sessions;
  for (std::size_t i = 0; i <= OriginSessions::most; ++i) {
    sessions.put(std::to_string(i), trust, session(), start);
  }
  EXPECT_EQ(sessions.size(), OriginSessions::most);
  EXPECT_EQ(sessions.get("0", trust, start).session, nullptr);
  EXPECT_NE(sessions.get("1", trust, start).session, nullptr);
}

}  // namespace
}  // namespace stile::intercept
