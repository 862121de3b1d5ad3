// RefillSignal: a worker that runs low on a budget wakes the main thread. Setting it takes no lock,
// and setting it twice has no effect.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

#include "acl/allowance.h"

namespace stile::control {

class RefillSignal final : public acl::Refill {
 public:
  explicit RefillSignal(boost::asio::io_context& context);

  void ask() noexcept override;
  // Calls `handler` once, when the signal is set or if it is already set.
  void wait(std::function<void()> handler);
  void stop();

 private:
  boost::asio::posix::stream_descriptor event_;
  std::atomic<bool> is_set_{false};
};

}  // namespace stile::control
