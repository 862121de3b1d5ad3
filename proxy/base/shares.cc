// Shares: divides a worker's time between agents.
#include "proxy/base/shares.h"

#include <exception>

#include "proxy/base/log.h"

namespace stile {
namespace {

log::Throttle unfinished_work;

}  // namespace

// Returns the time it took. A lack of memory in one piece of work must not stop the others: what it
// leaves open has a deadline, or is closed by its owner.
std::chrono::nanoseconds Shares::run(Work& work) noexcept {
  std::shared_ptr<Share> share = work.share();
  current_.swap(share);
  try {
    work.run();
  } catch (const std::exception& problem) {
    unfinished_work.warning("could not finish serving a connection: ", problem.what());
  }
  current_.swap(share);
  const SteadyTime before = std::exchange(mark_, clock_.now());
  const auto taken = mark_ - before;
  if (share) {
    if (share->turn_ != turn_) share->taken_ = {};
    share->turn_ = turn_;
    share->taken_ += taken;
  }
  return taken;
}

void Shares::serve(Work& work, std::chrono::microseconds most) {
  const Share* share = work.share().get();
  if (share != nullptr && share->turn_ == turn_ && share->taken_ >= most) return add_waiting(work);
  run(work);
}

void Shares::add_waiting(Work& work) noexcept {
  if (work.is_linked()) return;
  Share& share = work.share() ? *work.share() : nobodys_;
  share.waiting_.push_back(work);
  if (share.is_linked()) return;
  share.since_first_ = {};
  waiting_.push_back(share);
}

// Agents take turns, so that one with a thousand connections gets no more than one with a single
// connection. A connection with more to do goes on while its agent has the turn.
void Shares::run_waiting() {
  if (waiting_.empty()) return;
  skip_time();
  const SteadyTime end = mark_ + Share::most;
  do {
    Share& first = waiting_.front();
    if (first.waiting_.empty()) {  // its connections were closed
      waiting_.pop_front();
      continue;
    }
    Work& work = first.waiting_.front();
    first.waiting_.pop_front();
    const std::shared_ptr<Share> kept = work.share();  // `first`, unless the work has no share
    const auto taken = run(work);
    first.in_a_row_ += taken;
    first.since_first_ += taken;
    // Only compared: the work may be destroyed.
    const bool wants_more = !first.waiting_.empty() && &first.waiting_.back() == &work;
    if (wants_more && first.in_a_row_ < Share::most_in_a_row) {
      first.waiting_.pop_back();
      first.waiting_.push_front(work);
    } else {
      first.in_a_row_ = {};
    }
    if (first.waiting_.empty()) {
      first.unlink();
    } else if (first.since_first_ >= Share::most) {
      first.since_first_ = {};
      first.unlink();
      waiting_.push_back(first);
    }
  } while (!waiting_.empty() && mark_ < end);
}

}  // namespace stile
