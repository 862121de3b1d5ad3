// BrowserSessions: a token works once and not for long; a cookie alone proves nothing.
#include "web/sessions.h"

#include <gtest/gtest.h>

namespace stile::web {
namespace {

const BrowserSessions::Time login_time{};
using std::chrono::seconds;

TEST(BrowserSessions, TokenWorksOnce) {
  BrowserSessions sessions;
  const auto token = sessions.new_token(login_time);
  EXPECT_EQ(token.size(), 64U);
  EXPECT_FALSE(sessions.log_in("", login_time));
  EXPECT_FALSE(sessions.log_in(token.substr(1), login_time));
  EXPECT_TRUE(sessions.log_in(token, login_time));
  EXPECT_FALSE(sessions.log_in(token, login_time));
}

TEST(BrowserSessions, TokenExpires) {
  BrowserSessions sessions;
  const auto token = sessions.new_token(login_time);
  EXPECT_FALSE(sessions.log_in(token, login_time + BrowserSessions::token_life));
}

TEST(BrowserSessions, OldestTokenGoesWhenThereAreTooMany) {
  BrowserSessions sessions;
  const auto first = sessions.new_token(login_time);
  const auto second = sessions.new_token(login_time);
  for (std::size_t i = 1; i < BrowserSessions::max_tokens; ++i)
    (void)sessions.new_token(login_time);
  EXPECT_FALSE(sessions.log_in(first, login_time));
  EXPECT_TRUE(sessions.log_in(second, login_time));
}

TEST(BrowserSessions, BothSecretsOfTheSameSessionAreNeeded) {
  BrowserSessions sessions;
  const auto one = sessions.log_in(sessions.new_token(login_time), login_time);
  const auto two = sessions.log_in(sessions.new_token(login_time), login_time);
  ASSERT_TRUE(one && two);
  EXPECT_TRUE(sessions.has(one->cookie, login_time));
  EXPECT_FALSE(sessions.has(one->csrf, login_time));
  EXPECT_TRUE(sessions.proves(one->cookie, one->csrf, login_time));
  EXPECT_FALSE(sessions.proves(one->cookie, two->csrf, login_time));
  EXPECT_FALSE(sessions.proves(one->cookie, "", login_time));
  EXPECT_FALSE(sessions.proves("", "", login_time));
}

TEST(BrowserSessions, EndByTimeAndByLogout) {
  BrowserSessions sessions;
  const auto one = sessions.log_in(sessions.new_token(login_time), login_time);
  const auto two = sessions.log_in(sessions.new_token(login_time), login_time);
  sessions.log_out(one->cookie);
  EXPECT_FALSE(sessions.has(one->cookie, login_time));
  EXPECT_TRUE(sessions.has(two->cookie, login_time + BrowserSessions::session_life - seconds{1}));
  EXPECT_FALSE(sessions.has(two->cookie, login_time + BrowserSessions::session_life));
}

TEST(BrowserSessions, AreBounded) {
  BrowserSessions sessions;
  const auto first = sessions.log_in(sessions.new_token(login_time), login_time);
  for (std::size_t i = 0; i < BrowserSessions::max_sessions; ++i) {
    ASSERT_TRUE(sessions.log_in(sessions.new_token(login_time), login_time));
  }
  EXPECT_FALSE(sessions.has(first->cookie, login_time));
}

}  // namespace
}  // namespace stile::web
