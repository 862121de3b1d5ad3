// Requests: every action with its fields, and what is refused.
#include "control/request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "proxy/commands/actions.h"

namespace stile::commands {
namespace {

using control::ErrorCode, control::max_request_bytes, control::ControlRequest;

control::Outcome<ControlRequest> parse_request(std::string_view line) {
  return control::parse_request(line, actions());
}

TEST(ControlRequest, ReadsEveryFieldOfAnAnswer) {
  const auto request = parse_request(
      R"({"action":"answer","ask":"0123","verdict":"allow","hosts":[".b.test"],"ttl_seconds":60,)"
      R"("max_requests":3,"bytes_up":"5MiB","reason":"why"})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->ask, "0123");
  EXPECT_EQ(request->verdict, "allow");
  EXPECT_FALSE(parse_request(R"({"action":"answer","ask":"0123"})"));
  EXPECT_FALSE(parse_request(R"({"action":"answer","ask":"0123","verdict":"would-deny"})"));
  EXPECT_TRUE(parse_request(R"({"action":"asks","follow":true,"agent":"alpha"})")->follow);
}

TEST(ControlRequest, ReadsEveryFieldOfAnAllow) {
  const auto request = parse_request(
      R"({"action":"allow","agent":"alpha","hosts":["a.test",".b.test:8443"],"ttl_seconds":60,)"
      R"("max_requests":3,"bytes_up":"5MiB","reason":"why"})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->action->name, "allow");
  EXPECT_EQ(request->agent, "alpha");
  ASSERT_EQ(request->hosts.size(), 2U);
  EXPECT_EQ(request->hosts[1].text(), ".b.test:8443");
  EXPECT_EQ(request->ttl_seconds, 60);
  EXPECT_EQ(request->max_requests, 3U);
  EXPECT_EQ(request->bytes_up, 5U << 20);
  EXPECT_EQ(request->reason, "why");
}

TEST(ControlRequest, KeepsACardAsText) {
  const auto request = parse_request(
      R"({"action":"put-agent","card":{"agent_id":"a","source":["10.0.0.1"],"contact":"é\"\n"}})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->card, R"({"agent_id":"a","source":["10.0.0.1"],"contact":"é\"\u000a"})");
}

TEST(ControlRequest, KeepsTheFractionsOfACard) {
  for (const char* number : {"0.5", "3.0", "-7.0", "1e+300", "11111111111111122944.0"}) {
    const std::string card = std::string{R"({"agent_id":"a","x":)"} + number + "}";
    const auto request = parse_request(R"({"action":"put-agent","card":)" + card + "}");
    ASSERT_TRUE(request) << number;
    EXPECT_EQ(request->card, card);
  }
}

TEST(ControlRequest, HasABoundedNumberOfRegexes) {
  const auto list = [](std::size_t count) {
    std::string hosts = "[\"a.test\"";
    for (std::size_t i = 0; i < count; ++i) hosts += ",\"~^x" + std::to_string(i) + "$\"";
    return hosts + "]";
  };
  for (const std::size_t count : {ControlRequest::max_regexes, ControlRequest::max_regexes + 1}) {
    const bool is_fine = count <= ControlRequest::max_regexes;
    EXPECT_EQ(
        parse_request(R"({"action":"revoke","agent":"a","hosts":)" + list(count) + "}").has_value(),
        is_fine);
    EXPECT_EQ(parse_request(R"({"action":"put-agent","card":{"agent_id":"a","allow":)" +
                            list(count) + "}}")
                  .has_value(),
              is_fine);
  }
}

TEST(ControlRequest, TakesAPortAsNumberOrText) {
  for (const char* port : {"443", "\"443\""}) {
    const auto request = parse_request(
        std::string{R"({"action":"explain","agent":"a","host":"h.test","port":)"} + port + "}");
    ASSERT_TRUE(request) << port;
    EXPECT_EQ(request->port, "443");
  }
}

struct Refused {
  const char* line;
  ErrorCode code;
  const char* words;
};
constexpr Refused refused[] = {
    {"", ErrorCode::bad_request, "not a request"},
    {"{", ErrorCode::bad_request, "not a request"},
    {"\"ping\"", ErrorCode::bad_request, "one JSON object"},
    {"{}", ErrorCode::bad_request, "action"},
    {R"({"action":null})", ErrorCode::bad_request, "action"},
    {R"({"action":"stauts"})", ErrorCode::unknown_action, "'status'"},
    {R"({"action":"status","agent":"a"})", ErrorCode::bad_request, "no field 'agent'"},
    {R"({"action":"mode","mood":"offline"})", ErrorCode::bad_request, "'mode'"},
    {R"({"action":"mode"})", ErrorCode::bad_request, "needs 'mode'"},
    {R"({"action":"mode","mode":"Offline"})", ErrorCode::bad_request, "mode"},
    {R"({"action":"revoke","agent":"a","hosts":["x.test"],"grant":"1"})", ErrorCode::bad_request,
     "either"},
    {R"({"action":"allow","agent":"a","hosts":["x.test"],"ttl_seconds":-1})",
     ErrorCode::bad_request, "ttl_seconds"},
    {R"({"action":"allow","agent":"a","hosts":["x.test"],"ttl_seconds":1e3})",
     ErrorCode::bad_request, "ttl_seconds"},
    {R"({"action":"allow","agent":"a","hosts":["x.test"],"max_requests":0})",
     ErrorCode::bad_request, "max_requests"},
    {R"({"action":"allow","agent":"a","hosts":["x.test"],"bytes_up":0})", ErrorCode::bad_request,
     "bytes_up"},
    {R"({"action":"allow","agent":"a","hosts":["https://x.test/"]})", ErrorCode::bad_request,
     "hosts"},
    {R"({"action":"allow","agent":"a","hosts":[["x.test"]]})", ErrorCode::bad_request, "hosts"},
    {R"({"action":"explain","agent":"a","source":"10.0.0.1","url":"https://x/"})",
     ErrorCode::bad_request, "either"},
    {R"({"action":"explain","agent":"a","host":"x.test"})", ErrorCode::bad_request, "port"},
    {R"({"action":"explain","source":"10.0.0.256","url":"https://x/"})", ErrorCode::bad_request,
     "source"},
    {R"({"action":"tail","verdict":"denied"})", ErrorCode::bad_request, "verdict"},
    {R"({"action":"agent","agent":"a","agent":"b"})", ErrorCode::bad_request, "twice"},
};

TEST(ControlRequest, RefusesAndNamesWhatIsWrong) {
  for (const auto& [line, code, words] : refused) {
    const auto request = parse_request(line);
    ASSERT_FALSE(request) << line;
    EXPECT_EQ(text(request.error().code), text(code)) << line;
    EXPECT_NE(request.error().message.find(words), std::string::npos)
        << line << ": " << request.error().message;
  }
}

TEST(ControlRequest, HasABoundOn64KiB) {
  const std::string ping = R"({"action":"ping"})";
  const std::string fits = ping + std::string(max_request_bytes - ping.size(), ' ');
  EXPECT_TRUE(parse_request(fits));
  const auto larger = parse_request(fits + ' ');
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().code, ErrorCode::too_large);
}

TEST(ControlRequest, LookingChangesNothing) {
  const std::set<std::string_view> reading{"ping",    "status", "agents", "agent",       "explain",
                                           "tail",    "log",    "config", "connections", "asks",
                                           "secrets", "trust",  "ask"};  // which a person answers
  for (const auto& action : actions()) {
    EXPECT_EQ(action.access == control::Action::Access::reads, reading.count(action.name) == 1)
        << action.name;
  }
}

TEST(ControlRequest, ARunServesWhatNeedsNoDaemon) {
  const std::set<std::string_view> of_daemon{
      "put-agent", "remove-agent", "reload",         "rotate", "drain",
      "log",       "config",       "adopt-listener", "trust",  "adopt-capture",
      "fleet",     "note-check",   "take-over"};
  for (const auto& action : actions()) {
    EXPECT_EQ(action.place == control::Action::Place::daemon, of_daemon.count(action.name) == 1)
        << action.name;
  }
}

TEST(ControlRequest, EveryActionHasAHandler) {
  for (const auto& action : actions()) EXPECT_NE(action.serve, nullptr) << action.name;
}

}  // namespace
}  // namespace stile::commands
