// Shares: divides a worker's time between agents.
//
// Everything that runs for an agent is Work: a socket with events, a coroutine that an answer from
// DNS, a finished dial or a written log line resumes. Each piece is timed. After `Share::most` of a
// turn, an agent's further work waits until the other agents were served; work that waits then
// takes turns by agent. An agent that is alone never waits for anybody.
#pragma once

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "proxy/base/clock.h"

namespace stile {

class Share;

// Can be queued without memory: a list of the objects themselves. Leaves its queue when destroyed.
class Work : public boost::intrusive::list_base_hook<
                 boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  using List = boost::intrusive::list<Work, boost::intrusive::constant_time_size<false>>;

  // Whose time it takes; none: it is never made to wait for its agent's other work.
  void charge_to(std::shared_ptr<Share> share) noexcept { share_ = std::move(share); }
  [[nodiscard]] const std::shared_ptr<Share>& share() const noexcept { return share_; }
  // Called by Shares. May destroy this.
  virtual void run() = 0;

 protected:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() = default;

 private:
  std::shared_ptr<Share> share_;
};

// One agent's part of a worker's time, and its work that waits.
class Share : public boost::intrusive::list_base_hook<
                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  // Of a turn, before the work of other agents comes first.
  static constexpr std::chrono::microseconds most{250};
  // The same for work that is resumed at the end of a turn. Making it wait costs another write of
  // the log, so this only stops what would delay others noticeably: a thousand connections that
  // wait for one name.
  static constexpr std::chrono::microseconds most_with_resumed{1000};
  // For one connection with more to do, before the agent's other connections come first. Moving a
  // stream until it is empty costs half of what many small bursts cost: what is queued behind a
  // full window is sent when the receiver reads, and does not wake it (docs/performance.md).
  static constexpr std::chrono::microseconds most_in_a_row{1000};

 private:
  friend class Shares;
  std::uint64_t turn_ = 0;
  std::chrono::nanoseconds taken_{0};        // of that turn
  std::chrono::nanoseconds in_a_row_{0};     // by the work that was at the front last
  std::chrono::nanoseconds since_first_{0};  // since it came to the front of those that wait
  Work::List waiting_;
};

class Shares {
 public:
  explicit Shares(const Clock& clock) noexcept : clock_{clock}, mark_{clock.now()} {}

  void begin_turn() noexcept { ++turn_; }
  // The time since the last work is not that of the next.
  void skip_time() noexcept { mark_ = clock_.now(); }
  // Runs it now, or lets it wait if its agent has had its share of this turn.
  void serve(Work& work, std::chrono::microseconds most = Share::most);
  // Lets it wait. No effect on work that waits already.
  void add_waiting(Work& work) noexcept;
  // Serves work that waits, for `Share::most` of time.
  void run_waiting();
  [[nodiscard]] bool has_waiting() const noexcept { return !waiting_.empty(); }
  // Whose work is running.
  [[nodiscard]] const std::shared_ptr<Share>& current() const noexcept { return current_; }

 private:
  std::chrono::nanoseconds run(Work& work) noexcept;

  const Clock& clock_;
  SteadyTime mark_;
  std::uint64_t turn_ = 0;
  std::shared_ptr<Share> current_;
  Share nobodys_;
  boost::intrusive::list<Share, boost::intrusive::constant_time_size<false>> waiting_;
};

}  // namespace stile
