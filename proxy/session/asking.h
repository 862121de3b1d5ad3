// Asking: a request of this worker that waits for a person's answer.
#pragma once

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <string>

#include "proxy/base/event.h"
#include "proxy/base/loop.h"

namespace stile::session {

// Its coroutine waits for `changed`, and looks again each time: at the policy, the ask and the
// time.
class Asking final : private Deadline,
                     public boost::intrusive::list_base_hook<
                         boost::intrusive::tag<Asking>,
                         boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  using Hook =
      boost::intrusive::list_base_hook<boost::intrusive::tag<Asking>,
                                       boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

  Asking(Loop& loop, std::string ask, std::chrono::milliseconds most)
      : changed{loop}, id{std::move(ask)} {
    loop.arm(*this, most);
  }
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }

  Event changed;
  const std::string id;

 private:
  void on_deadline() override {
    is_over_ = true;
    changed.fire();
  }
  bool is_over_ = false;
};

using AskingList = boost::intrusive::list<Asking, boost::intrusive::base_hook<Asking::Hook>,
                                          boost::intrusive::constant_time_size<false>>;

// The ask was answered, or ran out.
inline void look_again(AskingList& waiting, const std::string& id) noexcept {
  for (Asking& asking : waiting) {
    if (asking.id == id) asking.changed.fire();
  }
}

}  // namespace stile::session
