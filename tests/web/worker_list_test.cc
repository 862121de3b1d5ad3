// Ids of workers in an answer of the spawner.
#include "web/worker_list.h"

#include <gtest/gtest.h>

namespace stile::web {
namespace {

TEST(WorkerIds, AreThoseOfTheListInItsOrder) {
  const auto answer =
      R"({"workers":[{"task_id":"b","tags":["{\"task_id\":\"x\"}"]},{"task_id":"a"},{"task_id":"c"}]})";
  EXPECT_EQ(worker_ids(answer, 10), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(worker_ids(answer, 2), (std::vector<std::string>{"b", "a"}));
  for (const auto* other : {"", "{}", "[]", R"({"error":"x"})", R"({"workers":{}})"}) {
    EXPECT_TRUE(worker_ids(other, 10).empty()) << other;
  }
}

}  // namespace
}  // namespace stile::web
