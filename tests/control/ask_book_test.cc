// AskBook: asks are shared, bounded, end by themselves, and belong to one life of an agent.
#include "control/ask_book.h"

#include <gtest/gtest.h>

namespace stile::control {
namespace {

constexpr UnixMicros second = 1'000'000;

Ask question(std::string host, std::string agent = "alpha") {
  Ask ask;
  ask.agent = std::move(agent);
  ask.host = std::move(host);
  ask.scheme = "connect";
  ask.port = 443;
  return ask;
}

class Book : public testing::Test {
 protected:
  AskBook::Entry enter(const Ask& ask, bool wants_hold = true, UnixMicros now = second) {
    return book.enter(ask, ask.agent == "alpha" ? life : other, wants_hold, now,
                      [this] { return "id-" + std::to_string(++made); });
  }
  AskBook book;
  AskBook::Life life = std::make_shared<acl::Account>(), other = std::make_shared<acl::Account>();
  int made = 0;
};

TEST_F(Book, OneHostWaitsOnOneAsk) {
  const auto first = enter(question("a.com"));
  EXPECT_TRUE(first.is_new && first.is_held);
  const auto second_one = enter(question("a.com"));
  EXPECT_FALSE(second_one.is_new);
  EXPECT_EQ(second_one.ask->id, "id-1");
  EXPECT_EQ(second_one.ask->count, 2U);
  EXPECT_EQ(second_one.ask->held, 2U);
  // Another port, scheme or agent is another question: an answer to one is none to the other.
  Ask port = question("a.com");
  port.port = 8443;
  EXPECT_TRUE(enter(port).is_new);
  Ask http = question("a.com");
  http.scheme = "http";
  EXPECT_TRUE(enter(http).is_new);
  EXPECT_TRUE(enter(question("a.com", "beta")).is_new);
}

TEST_F(Book, AsksOfOthersTakeNoPlaceOfTheAgents) {
  for (std::size_t i = 0; i <= AskBook::max_open_for_agent; ++i) {
    Ask ask = question("b" + std::to_string(i) + ".com");
    ask.asked_by = "eve";
    EXPECT_EQ(enter(ask).ask != nullptr, i < AskBook::max_open_for_agent) << i;
  }
  for (std::size_t i = 0; i < AskBook::max_open_per_agent; ++i) {
    EXPECT_TRUE(enter(question("a" + std::to_string(i) + ".com")).is_new) << i;
  }
}

TEST_F(Book, NobodyElseWritesTheReasonOfAnAgentsAsk) {
  enter(question("a.com"));
  Ask forged = question("a.com");
  forged.asked_by = "eve";
  forged.agent_reason = "the operator said yes";
  EXPECT_EQ(enter(forged).ask->agent_reason, "");
  Ask own = question("a.com");
  own.agent_reason = "my own words";
  EXPECT_EQ(enter(own).ask->agent_reason, "my own words");
}

TEST_F(Book, RequestsInsideAreTheirOwnQuestions) {
  Ask post = question("a.com");
  post.reason = acl::Reason::method_not_allowed;
  post.method = "POST";
  post.path = "/x";
  EXPECT_TRUE(enter(post).is_new);
  EXPECT_FALSE(enter(post).is_new);
  post.path = "/y";
  EXPECT_TRUE(enter(post).is_new);
  post.path = std::string(AskBook::max_path_bytes + 1, 'x');  // could not be shown whole
  EXPECT_EQ(enter(post).ask, nullptr);
}

TEST_F(Book, IsBoundedForEachAgent) {
  for (std::size_t i = 0; i < AskBook::max_open_per_agent; ++i) {
    EXPECT_TRUE(enter(question("h" + std::to_string(i) + ".com")).is_new);
  }
  EXPECT_EQ(enter(question("more.com")).ask, nullptr);
  EXPECT_TRUE(enter(question("more.com", "beta")).is_new);
  EXPECT_EQ(enter(question("h0.com")).ask->count, 2U);
}

TEST_F(Book, HoldsABoundedNumberOfRequests) {
  for (std::uint32_t i = 0; i < AskBook::max_held_per_agent; ++i) {
    EXPECT_TRUE(enter(question(i % 2 == 0 ? "a.com" : "b.com")).is_held);
  }
  EXPECT_FALSE(enter(question("a.com")).is_held);
  EXPECT_FALSE(book.hold("alpha", life, "id-1"));
  book.release("alpha", "id-1");
  EXPECT_TRUE(book.hold("alpha", life, "id-1"));
  EXPECT_FALSE(book.hold("beta", other, "id-1"));
}

TEST_F(Book, RemembersARefusal) {
  static_cast<void>(enter(question("a.com")));
  EXPECT_TRUE(book.answer("id-1", Ask::State::refused, 100 * second));
  EXPECT_FALSE(book.answer("id-1", Ask::State::allowed, 100 * second));
  const auto again = enter(question("a.com"), true, 99 * second);
  EXPECT_EQ(again.ask->state, Ask::State::refused);
  EXPECT_FALSE(again.is_held || again.is_new);
  EXPECT_TRUE(enter(question("a.com"), true, 100 * second).is_new);
}

TEST_F(Book, AnApprovalIsNotARule) {
  static_cast<void>(enter(question("a.com")));
  EXPECT_TRUE(book.answer("id-1", Ask::State::allowed, 100 * second));
  EXPECT_TRUE(book.open().empty());
  EXPECT_EQ(book.find("alpha", life, "id-1")->state, Ask::State::allowed);
  EXPECT_TRUE(enter(question("a.com")).is_new);
}

TEST_F(Book, AsksRunOut) {
  static_cast<void>(enter(question("a.com"), false));
  EXPECT_TRUE(book.expire(second * 3600).empty());
  const auto ended = book.expire(second * 3601);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].id, "id-1");
  EXPECT_EQ(book.find("alpha", life, "id-1")->state, Ask::State::expired);
  EXPECT_TRUE(book.expire(second * 4300).empty());
  EXPECT_EQ(book.find("alpha", life, "id-1"), nullptr);
  EXPECT_FALSE(book.next_expiry());
}

TEST_F(Book, AnswersAreForgottenInTheEnd) {
  for (std::size_t i = 0; i < AskBook::max_answered_per_agent + 10; ++i) {
    const auto entry = enter(question("h" + std::to_string(i) + ".com"), false);
    ASSERT_NE(entry.ask, nullptr);
    EXPECT_TRUE(book.answer(std::string{entry.ask->id}, Ask::State::refused, second * 1'000'000));
  }
  EXPECT_EQ(book.all().size(), AskBook::max_answered_per_agent);
}

TEST_F(Book, BelongsToOneLifeOfAnAgent) {
  static_cast<void>(enter(question("a.com")));
  static_cast<void>(enter(question("a.com", "beta")));
  const auto next_life = std::make_shared<acl::Account>();
  EXPECT_EQ(book.find("alpha", next_life, "id-1"), nullptr);
  EXPECT_EQ(book.find("beta", other, "id-1"), nullptr);  // of another agent
  EXPECT_TRUE(book.own("alpha", next_life).empty());
  const auto ended = book.keep_only(
      [&](const std::string& agent, const AskBook::Life&) { return agent == "beta"; });
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].agent, "alpha");
  EXPECT_EQ(book.open().size(), 1U);
}

}  // namespace
}  // namespace stile::control
