// Tasks: from what the spawner and the daemon say to what A2A callers see.
#include "a2a/task.h"

#include <gtest/gtest.h>

namespace stile::a2a {
namespace {

constexpr std::string_view status_of_alpha =
    R"({"task_id":"alpha","workspace":"/mnt/agents/alpha","template":"default","tags":[],)"
    R"("status":"running","started_at":1700000000,"expires_at":1700003600,"memory_bytes":1,)"
    R"("runs":[{"run":0,"status":"running","started_at":1700000000},)"
    R"({"run":1,"status":"failed","exit_status":7,"started_at":1700000001,"ended_at":1700000002},)"
    R"({"run":2,"status":"running","started_at":1700000003}]})";

TEST(A2aState, FollowsFromTheRunAndFromWhatWaits) {
  struct Case {
    std::string_view status;
    bool waits;
    State state;
    bool is_over;
  };
  const Case cases[]{
      {"running", false, State::working, false},
      {"running", true, State::auth_required, false},
      {"completed", false, State::completed, true},
      {"failed", false, State::failed, true},
      {"canceled", false, State::canceled, true},
      // A task that has ended waits for nothing, whatever its worker does beside it.
      {"completed", true, State::completed, true},
      {"canceled", true, State::canceled, true},
      // A word of a later spawner is no success.
      {"", false, State::failed, true},
      {"paused", false, State::failed, true},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(state_of(one.status, one.waits), one.state) << one.status;
    EXPECT_EQ(is_over(one.state), one.is_over) << one.status;
  }
}

TEST(A2aWorker, IsReadWithoutItsCommand) {
  const auto worker = parse_worker(status_of_alpha);
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->id, "alpha");
  EXPECT_EQ(worker->started_at, 1700000000);
  ASSERT_EQ(worker->runs.size(), 2U);
  EXPECT_EQ(worker->runs[0].exit_status, 7);
  EXPECT_EQ(worker->find(2)->status, "running");
  EXPECT_EQ(worker->find(0), nullptr);
}

TEST(A2aWorker, ThatDoesNotAnswerIsNone) {
  EXPECT_FALSE(parse_worker(R"({"task_id":"alpha","started_at":1})"));
  EXPECT_FALSE(parse_worker(R"({"error":"Worker not found"})"));
  EXPECT_FALSE(parse_worker("[]"));
  for (std::size_t size = 0; size < status_of_alpha.size(); ++size) {
    EXPECT_FALSE(parse_worker(status_of_alpha.substr(0, size))) << size;
  }
}

TEST(A2aTask, HasAnIdThatNoLaterWorkerOfThatNameHas) {
  WorkerStatus worker{"alpha", 1700000000, {}};
  EXPECT_EQ(task_id(worker, 12), "1700000000-12");
  EXPECT_EQ(run_of(worker, "1700000000-12"), 12U);
  for (const auto* id : {"", "12", "1700000000", "1700000000-", "1700000000-0", "1700000000-012",
                         "1700000000-12x", "1700000000--1", "1700000001-12", "1700000000-+1",
                         "1700000000-99999999999999999999", " 1700000000-12"}) {
    EXPECT_FALSE(run_of(worker, id)) << id;
  }
}

TEST(A2aTask, SaysWhatItWaitsForAndHowItEnded) {
  const auto worker = parse_worker(status_of_alpha).value();
  const OpenAsk ask{"q7", "alpha", "files.example", 443};
  const auto waiting = task_of(worker, *worker.find(2), &ask);
  EXPECT_EQ(waiting.state, State::auth_required);
  EXPECT_NE(waiting.explanation.find("files.example:443"), std::string::npos);
  EXPECT_NE(waiting.explanation.find("stile approve q7"), std::string::npos);
  EXPECT_EQ(waiting.time, 1700000003LL * 1000000);
  EXPECT_EQ(waiting.context, "alpha");
  EXPECT_EQ(task_of(worker, *worker.find(2), nullptr).explanation, "");
  const auto failed = task_of(worker, *worker.find(1), &ask);
  EXPECT_EQ(failed.explanation, "The task ended with exit status 7");
  EXPECT_EQ(failed.time, 1700000002LL * 1000000);
}

TEST(A2aTask, HasNoTimeAfterTheYear9999) {
  for (const auto* const second : {"253402300800", "17000000000002", "9223372036854775807"}) {
    const auto worker = parse_worker(
        std::string{R"({"task_id":"a","started_at":1,"runs":[{"run":1,"status":"failed",)"} +
        R"("started_at":1700000001,"ended_at":)" + second + "}]}");
    ASSERT_TRUE(worker);
    EXPECT_EQ(task_of(*worker, worker->runs[0], nullptr).time, 1'700'000'001'000'000) << second;
  }
}

TEST(A2aAnswers, AreReadOrRefusedAsAWhole) {
  const auto piece = parse_piece(
      R"({"task_id":"a","run":3,"status":"running","started_at":5,"output":"h\u00e9\n","cursor":9,)"
      R"("missed":2})");
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->run.number, 3U);
  EXPECT_EQ(piece->text, "h\u00e9\n");
  EXPECT_EQ(piece->cursor, 9U);
  EXPECT_EQ(piece->missed, 2U);
  EXPECT_TRUE(piece->files.empty());
  // A worker gives its files any time.
  const auto last = parse_piece(
      R"({"run":3,"status":"completed","output":"","cursor":9,"files":[{"name":"d/f","size":4,)"
      R"("is_dir":false,"modified_at":7},{"name":"x","size":0,"is_dir":false,)"
      R"("modified_at":9223372036854775807}],"truncated":true})");
  ASSERT_TRUE(last);
  ASSERT_EQ(last->files.size(), 2U);
  EXPECT_EQ(last->files[0].name, "d/f");
  EXPECT_EQ(last->files[0].size, 4);
  EXPECT_EQ(last->files[1].modified_at, 0);
  EXPECT_TRUE(last->has_more_files);
  EXPECT_FALSE(parse_piece(R"({"error":"there is no such task"})"));
  EXPECT_EQ(error_of(R"({"error":"there is no such task"})"), "there is no such task");
  EXPECT_EQ(error_of(R"({"run":1})"), std::nullopt);
  EXPECT_TRUE(error_of("nonsense"));
  const auto asks = parse_asks(
      R"({"ok":true,"asks":[{"id":"q1","agent":"alpha","host":"a.example","port":443,"count":1}]})");
  ASSERT_EQ(asks.size(), 1U);
  EXPECT_EQ(asks[0].agent, "alpha");
  EXPECT_EQ(asks[0].port, 443);
  EXPECT_TRUE(parse_asks(R"({"ok":false})").empty());
}

}  // namespace
}  // namespace stile::a2a
