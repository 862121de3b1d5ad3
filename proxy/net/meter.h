// Meter: the counters that one direction charges before its bytes flow; Paused: a waiter for more.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstddef>

#include "acl/allowance.h"

namespace stile::net {

class Meter {
 public:
  void draw_on(acl::Allowance& allowance) noexcept { allowances_[count_++] = &allowance; }
  // How many of `want` bytes may flow now. 0: a budget is spent, or its remainder is not on record
  // yet.
  [[nodiscard]] std::size_t take(std::size_t want) noexcept;
  void give_back(std::size_t unused) noexcept;
  [[nodiscard]] bool is_spent() const noexcept;
  // Bytes will flow soon: the main thread can begin to put more on record.
  void expect() noexcept;

 private:
  std::array<acl::Allowance*, 2> allowances_{};  // the agent's, and a grant's
  std::size_t count_ = 0;
};

struct PausedTag;

// Waits on this worker until more of a budget is on record.
class Paused : public boost::intrusive::list_base_hook<
                   boost::intrusive::tag<PausedTag>,
                   boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  // Check again: there may be more, or not. It may wait again.
  virtual void on_refill() = 0;

 protected:
  Paused() = default;
  ~Paused() = default;
};

class PausedList {
 public:
  void add(Paused& paused) noexcept {
    if (!paused.is_linked()) list_.push_back(paused);
  }
  // Calls each waiter once.
  void wake() {
    List now;
    now.swap(list_);
    while (!now.empty()) {
      Paused& first = now.front();
      now.pop_front();
      first.on_refill();
    }
  }

 private:
  using List =
      boost::intrusive::list<Paused,
                             boost::intrusive::base_hook<boost::intrusive::list_base_hook<
                                 boost::intrusive::tag<PausedTag>,
                                 boost::intrusive::link_mode<boost::intrusive::auto_unlink>>>,
                             boost::intrusive::constant_time_size<false>>;
  List list_;
};

}  // namespace stile::net
