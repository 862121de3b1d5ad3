// Requests to the spawner: what is read, and what never gets further.
#include "spawn/request.h"

#include <gtest/gtest.h>

#include "base/ascii.h"

namespace stile::spawn {
namespace {

TEST(SpawnRequest, AcceptsOnlyIdsThatAreSafeInNames) {
  for (const auto* id : {"agent1", "my-agent-123", "a", "0", "a--b"}) {
    EXPECT_TRUE(is_plain_id(id)) << id;
  }
  const std::string longest(64, 'a');
  EXPECT_TRUE(is_plain_id(longest));
  for (const std::string& id :
       std::vector<std::string>{"", "Agent1", "../etc/passwd", "agent;rm -rf /", longest + 'a',
                                "a\n", "\na", "a b", "-a", "a-", "a/b", ".", "..", "a.b", "a_b",
                                "a%n", "a@b", std::string{"a\0b", 3}, "\xc3\xa4"}) {
    EXPECT_FALSE(is_plain_id(id)) << id;
  }
}

TEST(SpawnRequest, ReadsTheRequestsOfTheSeed) {
  const auto spawn =
      parse_request(R"({"action":"spawn","task_id":"test-agent","workspace":"/mnt/agents"})");
  ASSERT_TRUE(spawn) << spawn.error().message;
  EXPECT_EQ(spawn->action, SpawnAction::spawn);
  EXPECT_EQ(spawn->workspace, "/mnt/agents");
  EXPECT_EQ(spawn->template_name, "default");
  EXPECT_EQ(parse_request(R"({"action":"list"})")->action, SpawnAction::list);
  EXPECT_EQ(parse_request(R"({"action":"terminate","task_id":"a"})")->action,
            SpawnAction::terminate);
  EXPECT_EQ(parse_request(R"({"action":"run","task_id":"a","message":"x\ny"})")->message, "x\ny");
}

TEST(SpawnRequest, OfOneWorkerMayCarryItsToken) {
  for (const auto* action :
       {"terminate", "status", "run", "cancel", "output", "files", "read_file"}) {
    const auto request =
        parse_request(std::string{R"({"action":")"} + action + R"(","task_id":"a","token":"t"})");
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(request->token, "t");
  }
  EXPECT_EQ(parse_request(R"({"action":"status","task_id":"a"})")->token, std::nullopt);
  EXPECT_FALSE(parse_request(R"({"action":"status","task_id":"a","token":1})"));
  EXPECT_EQ(parse_request(R"({"action":"files","task_id":"a","run":2})")->run, 2U);
}

TEST(SpawnRequest, RefusesAllElse) {
  for (const auto* text : {
           "",
           "x",
           "[]",
           "1",
           "{}",
           R"({"action":1})",
           R"({"action":"exec"})",
           R"({"action":"spawn"})",  // no id
           R"({"action":"spawn","task_id":"../etc"})",
           R"({"action":"spawn","task_id":"a\n"})",
           R"({"action":"spawn","task_id":["a"]})",
           R"({"action":"spawn","task_id":"a","command":["sh"]})",  // the operator's alone
           R"({"action":"list","task_id":"a"})",
           R"({"action":"spawn","task_id":"a","task_id":"b"})",
           R"({"action":"spawn","task_id":"a","tags":["a b"]})",
           R"({"action":"spawn","task_id":"a","tags":"a"})",
           R"({"action":"run","task_id":"a","message":1})",
           R"({"action":"output","task_id":"a","cursor":-1})",
           R"({"action":"output","task_id":"a","wait_seconds":1000})",
           R"({"action":"list"} {"action":"list"})",
       }) {
    EXPECT_FALSE(parse_request(text)) << text;
  }
  EXPECT_FALSE(parse_request(R"({"action":"run","task_id":"a","message":")" +
                             std::string(max_request_bytes, 'x') + "\"}"));
}

TEST(SpawnRequest, EndsWithTheObjectOrTheLine) {
  const std::string_view request = R"({"action":"run","message":"}\"{\\","card":{"a":[1]}})";
  EXPECT_EQ(request_end(request), request.size());
  EXPECT_EQ(request_end(std::string{request} + "\n{"), request.size());
  for (std::size_t cut = 0; cut < request.size(); ++cut) {
    EXPECT_FALSE(request_end(request.substr(0, cut))) << cut;
  }
  EXPECT_EQ(request_end("nonsense\n"), 9U);
  EXPECT_EQ(request_end("{\"a\":\"b\n"), 8U);  // a string has no raw newline: an error, not a wait
  EXPECT_EQ(request_end("{\n}"), 3U);
  EXPECT_FALSE(request_end("nonsense"));
}

}  // namespace
}  // namespace stile::spawn
