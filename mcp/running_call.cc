// RunningCall, Runner: a pool of threads, because tools wait for the spawner and the daemon.
#include "mcp/running_call.h"

#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "mcp/protocol.h"

namespace stile::mcp {

void RunningCall::end(State why) {
  {
    const std::lock_guard lock{mutex_};
    State wanted = State::wanted;
    state_.compare_exchange_strong(wanted, why);
  }
  ended_.notify_all();
}

void RunningCall::wait(std::chrono::milliseconds time) {
  std::unique_lock lock{mutex_};
  ended_.wait_for(lock, time, [this] { return state() != State::wanted; });
}

void RunningCall::report(double done, double total, const std::string& message) {
  if (call_.progress_token.is_null() || state() != State::wanted) return;
  report_(Protocol::progress_text(call_, done, total, message));
}

bool Runner::start(RunningCallPtr call, Done done) {
  if (running_.fetch_add(1) >= max_calls) {
    --running_;
    return false;
  }
  boost::asio::post(pool_, [this, call = std::move(call), done = std::move(done)] {
    ToolOutcome outcome = RpcFault{RpcCode::internal_error, "the tool failed", {}};
    try {
      outcome = tools_.call(call->call(), *call);
    } catch (const std::exception&) {
      // No memory, or no random numbers: the next call may work.
    }
    --running_;
    done(std::move(outcome));
  });
  return true;
}

}  // namespace stile::mcp
