// AuditQueue: gathers the audit lines of one turn of the loop and writes them with one call, before
// the coroutines that wait for them continue.
#pragma once

#include <coroutine>
#include <vector>

#include "audit/batch.h"
#include "audit/log.h"
#include "proxy/base/loop.h"

namespace stile::session {

class AuditQueue {
 public:
  AuditQueue(Loop& loop, audit::Log& log)
      : loop_{loop}, log_{log}, batch_{log.new_batch()}, next_{log.new_batch()} {}

  // For lines that no coroutine waits for (`close`).
  void add(const audit::Record& record) { batch_.add(record); }

  class Written {
   public:
    explicit Written(AuditQueue& queue, bool has_line = true) noexcept
        : queue_{queue}, has_line_{has_line} {}
    // Before it is awaited there is nothing else to copy.
    Written(const Written& other) noexcept : queue_{other.queue_}, has_line_{other.has_line_} {}
    Written& operator=(const Written&) = delete;
    ~Written() = default;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) {
      resumption_.charge_to(queue_.loop_.current_share());
      resumption_.waiter = waiter;
      queue_.waiters_.push_back({this, has_line_ ? queue_.batch_.size() : 0});
    }
    // False: the line is not in the log, and nothing that depends on it may be sent.
    [[nodiscard]] bool await_resume() const noexcept { return written_; }

   private:
    friend class AuditQueue;
    struct Resumption final : Work {
      void run() override { waiter.resume(); }
      std::coroutine_handle<> waiter;
    };

    AuditQueue& queue_;
    Resumption resumption_;
    bool has_line_, written_ = false;
  };
  // `co_await queue.write(record)` returns once write(2) has returned: at the end of this turn or,
  // for an agent that has used its share of it, in a later one.
  [[nodiscard]] Written write(const audit::Record& record) {
    batch_.add(record);
    return Written{*this};
  }
  // For events without their own line. It still waits for the end of the turn, so that a flood
  // takes turns with the others.
  [[nodiscard]] Written without_line() noexcept { return Written{*this, false}; }
  // Size of the lines gathered in this turn.
  [[nodiscard]] std::size_t bytes() const noexcept { return batch_.bytes(); }

  // True if the log is failing, so that a request which needs a line must be refused. Retries the
  // log first: the disk may have room by now.
  [[nodiscard]] bool must_refuse() {
    if (!log_.must_refuse()) return false;
    log_.retry();
    return log_.must_refuse();
  }

  // At the end of a turn. One write; lines that the waiters add now belong to the next turn, so
  // that a client that repeats its requests waits its turn like all others. True: there are such
  // lines.
  bool flush();

 private:
  struct Waiter {
    Written* written;
    std::size_t needed;  // that many records of the batch must be in the log
  };
  Loop& loop_;
  audit::Log& log_;
  audit::Batch batch_, next_;
  std::vector<Waiter> waiters_, resuming_;
};

}  // namespace stile::session
