// Batches of workers: what the spawner is asked for each.
#include "web/spawn_batch.h"

#include <gtest/gtest.h>

namespace stile::web {
namespace {

TEST(SpawnBatch, NumbersItsWorkersAndTagsThem) {
  const auto batch =
      parse_batch(R"({"count":2,"workspace":"/mnt/agents","template":"t","tags":["x"]})", "b");
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->name, "b");
  ASSERT_EQ(batch->workers.size(), 2U);
  EXPECT_EQ(batch->workers[1].id, "b-2");
  EXPECT_EQ(batch->workers[1].line,
            R"({"action":"spawn","task_id":"b-2","workspace":"/mnt/agents","template":"t",)"
            R"("tags":["x","b"]})");
}

TEST(SpawnBatch, LetsEachWorkerReplaceWhatAllHave) {
  const auto batch = parse_batch(
      R"({"batch":"night","workspace":"/w","tags":["x"],"agents":[{"task_id":"one","tags":["y","x"]},)"
      R"({"workspace":"/v","card":{"ttl_seconds":5}}]})",
      "b");
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->workers.size(), 2U);
  EXPECT_EQ(batch->workers[0].line,
            R"({"action":"spawn","task_id":"one","workspace":"/w","tags":["x","y","night"]})");
  EXPECT_EQ(batch->workers[1].line,
            R"({"action":"spawn","task_id":"night-2","workspace":"/v","card":{"ttl_seconds":5},)"
            R"("tags":["x","night"]})");
}

TEST(SpawnBatch, IsOneWorkerIfNothingElseIsSaid) {
  const auto batch = parse_batch(R"({"workspace":"/w"})", "b");
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->workers.size(), 1U);
}

TEST(SpawnBatch, RefusesWhatIsNoBatch) {
  for (const auto* body :
       {"", "[]", "{", R"({"count":0})", R"({"count":17})", R"({"count":-1})", R"({"count":"2"})",
        R"({"agents":[]})", R"({"agents":{}})", R"({"agents":["x"]})",
        R"({"agents":[{}],"count":1})", R"({"agents":[{"count":1}]})", R"({"tags":"x"})",
        R"({"tags":[1]})", R"({"action":"terminate"})", R"({"agents":[{"action":"terminate"}]})",
        R"({"task_id":"x"})", R"({"count":1,"count":2})", R"({"token":"x"})"}) {
    EXPECT_FALSE(parse_batch(body, "b")) << body;
  }
  EXPECT_TRUE(parse_batch(R"({"count":16})", "b"));
}

TEST(SpawnBatch, WritesOneLinePerWorker) {
  const auto batch = parse_batch(R"({"workspace":"a\nb","template":"\u000a{}"})", "b");
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->workers[0].line.find('\n'), std::string::npos);
}

TEST(ParseStop, StopsAllOnlyIfNothingElseIsSaid) {
  for (const auto* body : {"", "{}"}) EXPECT_EQ(*parse_stop(body), std::nullopt) << body;
  EXPECT_EQ(*parse_stop(R"({"tag":"night"})"), "night");
  EXPECT_EQ(*parse_stop(R"({"t\u0061g":"night"})"), "night");
  for (const auto* body : {"[]", "{", R"({"tags":["night"]})", R"({"tag":""})", R"({"tag":["x"]})",
                           R"({"tag":null})", R"({"agent":"alpha"})"}) {
    EXPECT_FALSE(parse_stop(body)) << body;
  }
}

}  // namespace
}  // namespace stile::web
