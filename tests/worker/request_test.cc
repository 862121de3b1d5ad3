// Requests of the spawner to a worker's keeper.
#include "worker/request.h"

#include <gtest/gtest.h>

namespace stile::worker {
namespace {

TEST(WorkerRequest, ReadsBackWhatWasWritten) {
  const TaskRequest request{TaskAction::output, "a\n\"b\"", 7, 42, 30};
  const auto read = parse_request(request_text(request));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->action, TaskAction::output);
  EXPECT_EQ(read->message, request.message);
  EXPECT_EQ(read->run, 7U);
  EXPECT_EQ(read->cursor, 42U);
  EXPECT_EQ(read->wait_seconds, 30U);
  EXPECT_EQ(parse_request(request_text({}))->action, TaskAction::runs);
}

TEST(WorkerRequest, IsRefusedWhenCutAnywhere) {
  const auto text = request_text({TaskAction::run, "hello", {}, 0, 0});
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    EXPECT_FALSE(parse_request(text.substr(0, cut))) << cut;
  }
  EXPECT_FALSE(parse_request(R"({"action":"other"})"));
  EXPECT_FALSE(parse_request(R"({"action":"run","run":-1})"));
  EXPECT_FALSE(parse_request(R"({"action":"output","wait_seconds":61})"));
}

}  // namespace
}  // namespace stile::worker
