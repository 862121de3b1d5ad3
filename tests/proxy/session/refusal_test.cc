// Refusal: the bytes that a refused client sees.
#include "proxy/session/refusal.h"

#include <gtest/gtest.h>

#include <set>

#include "acl/look_alike.h"
#include "acl/refusal_words.h"
#include "proxy/session/rate.h"

namespace stile::session {
namespace {

using acl::Reason;

Refusal refused(Reason reason) {
  Refusal refusal;
  refusal.reason = reason;
  refusal.agent = "alpha";
  refusal.host = "example.com";
  refusal.port = 443;
  return refusal;
}

std::string hint_of(const Refusal& refusal) { return allow_hint(refusal, remedy_of(refusal)); }
std::string message_of(const Refusal& refusal) {
  return refusal_message(refusal, remedy_of(refusal), hint_of(refusal));
}

TEST(WriteRefusal, SaysTheReasonWhereClientsLook) {
  Refusal refusal = refused(Reason::host_not_allowed);
  refusal.contact = "ops@example.org";
  const std::string answer = write_refusal(refusal);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 host-not-allowed\r\n"));
  EXPECT_NE(answer.find("\r\nX-Stile-Reason: host-not-allowed\r\n"), std::string::npos);
  EXPECT_NE(answer.find("\r\nProxy-Status: stile; error=http_request_denied; "
                        "details=\"host-not-allowed\"\r\n"),
            std::string::npos);
  EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_NE(answer.find("{\"error\":\"host-not-allowed\",\"agent\":\"alpha\","
                        "\"host\":\"example.com\",\"port\":443,\"message\":\""),
            std::string::npos);
  EXPECT_NE(answer.find("\"hint\":\"stile allow alpha example.com\""), std::string::npos);
  EXPECT_NE(answer.find("\"contact\":\"ops@example.org\""), std::string::npos);
}

TEST(WriteRefusal, NamesTheAsk) {
  const AskTicket ask{AskTicket::State::open, "0123456789ab", false, std::chrono::seconds{30}};
  Refusal refusal = refused(Reason::host_not_allowed);
  refusal.ask = &ask;
  const std::string answer = write_refusal(refusal);
  EXPECT_NE(answer.find("\r\nX-Stile-Request: 0123456789ab\r\nRetry-After: 30\r\n"),
            std::string::npos);
  EXPECT_NE(answer.find("\"request\":\"0123456789ab\""), std::string::npos);
  EXPECT_NE(answer.find("has been asked (request 0123456789ab)"), std::string::npos);
  EXPECT_EQ(write_refusal(refused(Reason::host_not_allowed)).find("X-Stile-Request"),
            std::string::npos);
}

TEST(WriteRefusal, LengthIsThatOfTheBody) {
  const std::string answer = write_refusal(refused(Reason::dns_failure));
  const auto body = answer.substr(answer.find("\r\n\r\n") + 4);
  EXPECT_NE(answer.find("Content-Length: " + std::to_string(body.size()) + "\r\n"),
            std::string::npos);
}

TEST(WriteRefusal, HasNoHintWhereADenyRuleStands) {
  EXPECT_EQ(write_refusal(refused(Reason::host_denied)).find("\"hint\""), std::string::npos);
}

TEST(WriteRefusal, HasNoHintThatAShellWouldRun) {
  Refusal refusal = refused(Reason::host_not_allowed);
  for (const char* host : {"$(id).test", "a;b.test", "-rf.test", "*", ".com"}) {
    refusal.host = host;
    EXPECT_EQ(hint_of(refusal), "") << host;
  }
}

TEST(WriteRefusal, HintNamesThePortAndSchemeThatAreNeeded) {
  Refusal refusal = refused(Reason::port_not_allowed);
  refusal.port = 8443;
  EXPECT_EQ(hint_of(refusal), "stile allow alpha example.com:8443");
  refusal.port = 443;  // refused, so that a bare name would not help
  EXPECT_EQ(hint_of(refusal), "stile allow alpha example.com:443");
  refusal.port = 22;
  EXPECT_EQ(hint_of(refusal), "stile allow alpha tcp://example.com:22");
  refusal.scheme = acl::Scheme::http;
  refusal.port = 80;
  EXPECT_EQ(hint_of(refusal), "stile allow alpha http://example.com");
}

TEST(WriteRefusal, MessageStandsAlone) {
  Refusal refusal = refused(Reason::host_not_allowed);
  EXPECT_EQ(message_of(refusal),
            "Stile refused example.com:443 for agent alpha: not on its allowlist; ask the operator "
            "for: stile allow alpha example.com");
  refusal.granted_by = GrantedBy::flag;
  refusal.agent = "run";
  EXPECT_EQ(message_of(refusal),
            "Stile refused example.com:443 for agent run: not on its allowlist; ask the operator "
            "for --allow example.com");
  EXPECT_NE(write_refusal(refusal).find("\"hint\":\"--allow example.com\""), std::string::npos);
}

TEST(WriteRefusal, MessageSaysWhatWhoWhyAndWhatToDoForEveryReason) {
  std::set<std::string_view> causes;
  for (std::size_t i = 1; i < acl::reason_count; ++i) {
    const Refusal refusal = refused(static_cast<Reason>(i));
    const std::string message = message_of(refusal);
    const std::string_view reason = text(refusal.reason);
    EXPECT_TRUE(message.starts_with("Stile refused example.com:443 for agent alpha: ") ||
                message.starts_with("Stile could not reach example.com:443 for agent alpha: "))
        << message;
    EXPECT_NE(message.find("; "), std::string::npos) << message;
    EXPECT_TRUE(causes.insert(acl::refusal_words(refusal.reason).cause).second) << reason;
  }
}

TEST(WriteRefusal, ABadRequestIsToldWhatIsWrong) {
  Refusal refusal = refused(Reason::bad_request);
  refusal.fault = "the request has no port";
  EXPECT_EQ(message_of(refusal),
            "Stile refused example.com:443 for agent alpha: the request has no port; correct the "
            "request");
}

TEST(WriteRefusal, NeitherALookAlikeNorADeniedHostGetsAHint) {
  acl::AgentPolicy policy;
  acl::RuleSet::Builder allow{"allow"}, deny{"deny"};
  ASSERT_TRUE(allow.add_text("example.com", 1));
  ASSERT_TRUE(deny.add_text(".evil.test", 1));
  policy.allow.sets = {std::move(allow).build()};
  policy.deny.sets = {std::move(deny).build()};
  policy.look_alikes = acl::LookAlikes::of(policy.allow);
  Refusal refusal = refused(Reason::host_not_allowed);
  refusal.policy = &policy;
  refusal.host = "exmaple.com";
  EXPECT_EQ(hint_of(refusal), "");
  EXPECT_EQ(
      message_of(refusal),
      "Stile refused exmaple.com:443 for agent alpha: not on its allowlist, but it looks like "
      "example.com, which is allowed; check the spelling");
  refusal = refused(Reason::port_not_allowed);
  refusal.policy = &policy;
  refusal.host = "a.evil.test";
  EXPECT_EQ(hint_of(refusal), "");
  EXPECT_NE(message_of(refusal).find("a deny rule names it"), std::string::npos);
}

TEST(WriteRefusal, MessageDoesWithoutAHostOrAnAgent) {
  Refusal refusal;
  refusal.reason = Reason::unknown_agent;
  refusal.agent = "-";
  EXPECT_TRUE(message_of(refusal).starts_with("Stile refused the connection: the address"));
  refusal.host = "2001:db8::1";
  refusal.port = 443;
  EXPECT_TRUE(message_of(refusal).starts_with("Stile refused [2001:db8::1]:443: "));
}

TEST(WriteRefusal, MessageKeepsItsEndWhateverTheAgentSent) {
  const std::string host(5000, 'a');
  Refusal refusal = refused(Reason::bad_request);
  refusal.host = host;
  EXPECT_TRUE(message_of(refusal).ends_with("correct the request"));
  EXPECT_LT(message_of(refusal).size(), 512U);
}

TEST(WriteRefusal, NothingThatTheAgentSentBreaksTheAnswer) {
  Refusal refusal = refused(Reason::bad_request);
  refusal.host = "a\"\r\nSet-Cookie: x\\\x80";
  const std::string answer = write_refusal(refusal);
  EXPECT_EQ(answer.find("\r\nSet-Cookie"), std::string::npos);
  EXPECT_NE(answer.find(R"(a\"\u000d\u000aSet-Cookie: x\\\u0080")"), std::string::npos);
}

TEST(WriteRefusal, LongTextsAreCutForEveryReason) {
  const std::string agent(64, 'a'), host(5000, '\x01'), contact(5000, '\x02');
  for (std::size_t i = 0; i < acl::reason_count; ++i) {
    Refusal refusal = refused(static_cast<Reason>(i));
    refusal.agent = agent;
    refusal.host = host;
    refusal.port = 65535;
    refusal.contact = contact;
    const std::string answer = write_refusal(refusal);
    const std::string_view reason = text(refusal.reason);
    EXPECT_TRUE(answer.ends_with("\\u0002\"}\n")) << reason;
    EXPECT_LT(answer.size(), 4 * 6 * 1024U) << reason;
    EXPECT_EQ(answer.find('\0'), std::string::npos) << reason;
    EXPECT_EQ(answer.find('\x01'), std::string::npos) << reason;
  }
}

TEST(WriteRefusal, AnswerToHeadHasNoBody) {
  Refusal refusal = refused(Reason::host_not_allowed);
  refusal.is_head = true;
  EXPECT_TRUE(write_refusal(refusal).ends_with("\r\n\r\n"));
}

TEST(RequestRate, LetsASecondsWorthThroughAndThenSpacesThemOut) {
  acl::Account account;
  const auto now = std::chrono::steady_clock::time_point{} + std::chrono::hours{1};
  for (int i = 0; i < 101; ++i) {
    ASSERT_EQ(reserve_request(account, 100, now).count(), 0) << i;
  }
  EXPECT_EQ(reserve_request(account, 100, now), std::chrono::milliseconds{10});
  EXPECT_EQ(reserve_request(account, 100, now), std::chrono::milliseconds{20});
  EXPECT_EQ(reserve_request(account, 100, now + std::chrono::seconds{1}).count(), 0);
}

TEST(RequestRate, ZeroMeansNoLimit) {
  acl::Account account;
  for (int i = 0; i < 10000; ++i) {
    ASSERT_EQ(reserve_request(account, 0, std::chrono::steady_clock::time_point{}).count(), 0);
  }
}

}  // namespace
}  // namespace stile::session
