// The tasks of one worker.
#include "worker/runs.h"

#include <gtest/gtest.h>

namespace stile::worker {
namespace {

constexpr UnixMicros start_time = 1'000'000'000;

TEST(WorkerRuns, RunsAsManyAtOnceAsAllowed) {
  Runs runs{"alpha", {2}};
  EXPECT_EQ(*runs.start(start_time), 1U);
  EXPECT_EQ(*runs.start(start_time), 2U);
  const auto refused = runs.start(start_time);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("busy"), std::string::npos);
  runs.end(1, 0, start_time + 1'000'000);
  EXPECT_EQ(*runs.start(start_time), 3U);
  EXPECT_EQ(runs.running(), (std::vector<std::uint64_t>{2, 3}));
}

TEST(WorkerRuns, TheCommandIsNoTask) {
  Runs runs{"alpha", {1}};
  runs.start_command(start_time);
  EXPECT_EQ(runs.find({})->number, command_run);
  EXPECT_TRUE(runs.start(start_time));
  EXPECT_EQ(runs.find({})->number, 1U);
}

TEST(WorkerRuns, StateFollowsFromStatusAndCancellation) {
  Runs runs{"alpha", {8}};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(runs.start(start_time));
  runs.find(3)->is_canceled = true;
  runs.end(1, 0, start_time);
  runs.end(2, 3, start_time);
  runs.end(3, 143, start_time);
  EXPECT_EQ(runs.find(1)->state, RunState::completed);
  EXPECT_EQ(runs.find(2)->state, RunState::failed);
  EXPECT_EQ(runs.find(3)->state, RunState::canceled);
  EXPECT_EQ(runs.state_of(*runs.find(2)),
            R"({"task_id":"alpha","run":2,"status":"failed","exit_status":3,)"
            R"("started_at":1000,"ended_at":1000})");
}

TEST(WorkerRuns, ForgetsTheOldestFinishedOnes) {
  Runs runs{"alpha", {1, 2, 100}};
  for (std::uint64_t i = 1; i <= 5; ++i) {
    ASSERT_TRUE(runs.start(start_time));
    runs.append(i, "x");
    runs.end(i, 0, start_time);
  }
  EXPECT_EQ(runs.find(1), nullptr);
  EXPECT_NE(runs.find(5), nullptr);
}

TEST(WorkerRuns, TheLastPieceOfTheOutputHasTheChangedFiles) {
  Runs runs{"alpha", {1}};
  ASSERT_TRUE(runs.start(start_time));
  runs.append(1, "x");
  EXPECT_EQ(runs.output_of(*runs.find(1), 1).find("files"), std::string::npos);
  runs.end(1, 0, start_time, {{{"d/\xff\"", 3, 7}}, true});
  const std::string files = R"("files":[{"name":"d/)"
                            "\xef\xbf\xbd"
                            R"(\"","size":3,"is_dir":false,"modified_at":7}],"truncated":true})";
  EXPECT_TRUE(runs.output_of(*runs.find(1), 0).ends_with(R"("cursor":1,)" + files));
  EXPECT_EQ(runs.files_of(*runs.find(1), runs.find(1)->changed),
            R"({"task_id":"alpha","run":1,)" + files);
}

TEST(WorkerRuns, OutputIsJsonWhateverTheTaskWrites) {
  Runs runs{"alpha", {1}};
  ASSERT_TRUE(runs.start(start_time));
  runs.append(1, "\"\x1b[2J\xff\n");
  EXPECT_EQ(runs.output_of(*runs.find(1), 0),
            "{\"task_id\":\"alpha\",\"run\":1,\"status\":\"running\",\"started_at\":1000,"
            "\"output\":\"\\\"\\u001b[2J\xef\xbf\xbd\\u000a\",\"cursor\":7}");
}

}  // namespace
}  // namespace stile::worker
