// Bell: workers ring it, the main thread comes. Ringing takes no lock, and a bell that rings is not
// rung again.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

#include "acl/allowance.h"

namespace stile::server {

class Bell final : public acl::Refill {
 public:
  explicit Bell(boost::asio::io_context& context);

  void ask() noexcept override;
  // Calls `come` once, when it rings or has rung already.
  void wait(std::function<void()> come);
  void stop();

 private:
  boost::asio::posix::stream_descriptor event_;
  std::atomic<bool> rings_{false};
};

}  // namespace stile::server
