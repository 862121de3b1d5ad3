// RunningCall, Runner: tool calls, each on a thread.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "mcp/tool.h"

namespace stile::mcp {

class RunningCall final : public CallContext {
 public:
  // `report` gets messages for the client, on the thread of the call.
  using Report = std::function<void(std::string message)>;
  RunningCall(ToolCall call, Report report) : call_{std::move(call)}, report_{std::move(report)} {}

  [[nodiscard]] const ToolCall& call() const noexcept { return call_; }
  // Only the first reason counts.
  void end(State why);

  [[nodiscard]] State state() const noexcept override { return state_.load(); }
  void wait(std::chrono::milliseconds time) override;
  void report(double done, double total, const std::string& message) override;

 private:
  const ToolCall call_;
  const Report report_;
  std::atomic<State> state_ = State::wanted;
  std::mutex mutex_;
  std::condition_variable ended_;
};
using RunningCallPtr = std::shared_ptr<RunningCall>;

class Runner {
 public:
  static constexpr std::size_t max_calls = 16;  // at the same time

  explicit Runner(ToolBox& tools) : tools_{tools}, pool_{max_calls} {}
  ~Runner() { join(); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // `done` is called once, on the thread of the call. False: too many calls run.
  using Done = std::function<void(ToolOutcome outcome)>;
  [[nodiscard]] bool start(RunningCallPtr call, Done done);
  // Waits for all calls.
  void join() { pool_.join(); }

 private:
  ToolBox& tools_;
  std::atomic<std::size_t> running_ = 0;
  boost::asio::thread_pool pool_;
};

}  // namespace stile::mcp
