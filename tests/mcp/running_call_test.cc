// Calls on their threads: how many, how they end, and what they report.
#include "mcp/running_call.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <vector>

using namespace stile;
using namespace stile::mcp;

namespace {

// Waits until it is not wanted any more, or throws.
class Waiting final : public ToolBox {
 public:
  [[nodiscard]] const std::vector<Tool>& tools() const override { return tools_; }
  [[nodiscard]] ToolOutcome call(const ToolCall& call, CallContext& context) override {
    if (call.tool == "throws") throw std::runtime_error("no");
    context.report(1, 2, "x");
    while (context.state() == CallContext::State::wanted) context.wait(std::chrono::hours{1});
    context.report(2, 2, "after the end");
    return plain_result("ended");
  }

 private:
  std::vector<Tool> tools_;
};

RunningCallPtr call_of(const char* tool, std::vector<std::string>& reports, bool wants_progress) {
  ToolCall call;
  call.tool = tool;
  if (wants_progress) call.progress_token = "p";
  return std::make_shared<RunningCall>(
      call, [&reports](std::string message) { reports.push_back(std::move(message)); });
}

TEST(McpRunner, EndsACallThatIsNotWanted) {
  Waiting tools;
  Runner runner{tools};
  for (const bool wants_progress : {true, false}) {
    std::vector<std::string> reports;
    const auto call = call_of("waits", reports, wants_progress);
    std::promise<ToolOutcome> done;
    ASSERT_TRUE(
        runner.start(call, [&](ToolOutcome outcome) { done.set_value(std::move(outcome)); }));
    call->end(CallContext::State::canceled);
    call->end(CallContext::State::abandoned);  // too late
    const auto outcome = done.get_future().get();
    EXPECT_TRUE(std::holds_alternative<ToolResult>(outcome));
    EXPECT_EQ(call->state(), CallContext::State::canceled);
    EXPECT_LE(reports.size(), wants_progress ? 1U : 0U);
  }
}

TEST(McpRunner, HasABoundAndSurvivesATool) {
  Waiting tools;
  Runner runner{tools};
  std::vector<std::string> none;
  std::promise<ToolOutcome> failed;
  ASSERT_TRUE(runner.start(call_of("throws", none, false),
                           [&](ToolOutcome outcome) { failed.set_value(std::move(outcome)); }));
  const auto outcome = failed.get_future().get();
  ASSERT_TRUE(std::holds_alternative<RpcFault>(outcome));
  EXPECT_EQ(std::get<RpcFault>(outcome).code, RpcCode::internal_error);

  std::vector<RunningCallPtr> calls;
  for (std::size_t i = 0; i < Runner::max_calls; ++i) {
    calls.push_back(call_of("waits", none, false));
    ASSERT_TRUE(runner.start(calls.back(), [](const ToolOutcome&) {})) << i;
  }
  EXPECT_FALSE(runner.start(call_of("waits", none, false), [](const ToolOutcome&) {}));
  for (const auto& call : calls) call->end(CallContext::State::abandoned);
  runner.join();
}

}  // namespace
