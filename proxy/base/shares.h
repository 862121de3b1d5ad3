// Shares: divides a worker's time between agents.
//
// Everything that runs for an agent is Work: a socket with events, or a coroutine resumed by a DNS
// answer, a finished dial or a written log line. Each piece is timed. After `Share::most` of a
// turn, an agent's further work waits until the other agents were served; waiting work then takes
// turns by agent. An agent that is alone never waits.
#pragma once

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "proxy/base/clock.h"

namespace stile {

class Share;

// Can be queued without memory (intrusive list). Leaves its queue when destroyed.
class Work : public boost::intrusive::list_base_hook<
                 boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  using List = boost::intrusive::list<Work, boost::intrusive::constant_time_size<false>>;

  // The share that its time counts for; null: it never waits for other work of its agent.
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

// One agent's part of a worker's time, and the agent's waiting work.
class Share : public boost::intrusive::list_base_hook<
                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  // Time per turn before the work of other agents goes first.
  static constexpr std::chrono::microseconds most{250};
  // The same for work that is resumed at the end of a turn. Delaying it costs another write of the
  // log, so this only stops work that would delay others noticeably: a thousand connections that
  // wait for one name.
  static constexpr std::chrono::microseconds most_with_resumed{1000};
  // Time for one connection with more to do before the agent's other connections go first. Moving a
  // stream until it is empty costs half as much as many small bursts: data queued behind a full
  // window is sent when the receiver reads, and does not wake it (docs/performance.md).
  static constexpr std::chrono::microseconds most_in_a_row{1000};

 private:
  friend class Shares;
  std::uint64_t turn_ = 0;
  std::chrono::nanoseconds taken_{0};        // of that turn
  std::chrono::nanoseconds in_a_row_{0};     // by the work that was last at the front
  std::chrono::nanoseconds since_first_{0};  // since it came to the front of the waiting agents
  Work::List waiting_;
};

class Shares {
 public:
  explicit Shares(const Clock& clock) noexcept : clock_{clock}, mark_{clock.now()} {}

  void begin_turn() noexcept { ++turn_; }
  // The time since the last work does not count for the next work.
  void skip_time() noexcept { mark_ = clock_.now(); }
  // Runs it now, or queues it if its agent has used its share of this turn.
  void serve(Work& work, std::chrono::microseconds most = Share::most);
  // Queues it. No effect on work that is already queued.
  void add_waiting(Work& work) noexcept;
  // Serves queued work, for `Share::most` of time.
  void run_waiting();
  [[nodiscard]] bool has_waiting() const noexcept { return !waiting_.empty(); }
  // The share whose work is running.
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
