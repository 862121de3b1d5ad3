// AuditQueue: gathers the audit lines of one turn of the loop and writes them with one call, before
// anything that waits for them goes on.
#pragma once

#include <coroutine>
#include <vector>

#include "audit/batch.h"
#include "audit/log.h"

namespace stile::session {

class AuditQueue {
 public:
  explicit AuditQueue(audit::Log& log)
      : log_{log}, batch_{log.new_batch()}, next_{log.new_batch()} {}

  // For lines that nothing waits for (`close`).
  void add(const audit::Record& record) { batch_.add(record); }

  class Written {
   public:
    explicit Written(AuditQueue& queue) noexcept : queue_{queue} {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      queue_.waiters_.push_back({this, queue_.batch_.size()});
    }
    // False: the line is not in the log, and nothing may go out on its strength.
    [[nodiscard]] bool await_resume() const noexcept { return written_; }

   private:
    friend class AuditQueue;
    AuditQueue& queue_;
    std::coroutine_handle<> waiter_;
    bool written_ = false;
  };
  // `co_await queue.write(record)`: comes back in this turn, once write(2) has returned.
  [[nodiscard]] Written write(const audit::Record& record) {
    batch_.add(record);
    return Written{*this};
  }

  // At the end of a turn. One write; what the waiters add in return is the next turn's, so that a
  // client that asks again and again waits its turn like everybody. True: there is such.
  bool flush();

 private:
  struct Waiter {
    Written* written;
    std::size_t needed;  // that many records of the batch must be in the log
  };
  audit::Log& log_;
  audit::Batch batch_, next_;
  std::vector<Waiter> waiters_, resuming_;
};

}  // namespace stile::session
