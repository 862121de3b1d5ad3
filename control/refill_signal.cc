// RefillSignal: a worker that runs low on a budget wakes the main thread.
#include "control/refill_signal.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace stile::control {

RefillSignal::RefillSignal(boost::asio::io_context& context) : event_{context} {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) throw std::system_error{errno, std::generic_category(), "eventfd"};
  event_.assign(fd);
}

void RefillSignal::ask() noexcept {
  if (is_set_.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(event_.native_handle(), &one, sizeof one);
}

void RefillSignal::wait(std::function<void()> handler) {
  event_.async_wait(
      boost::asio::posix::descriptor_base::wait_read,
      [this, handler = std::move(handler)](const boost::system::error_code& ec) {
        if (ec) return;
        std::uint64_t count = 0;
        [[maybe_unused]] const ssize_t ignored =
            ::read(event_.native_handle(), &count, sizeof count);
        is_set_.exchange(false);  // before the handler: requests from now on set it again
        handler();
      });
}

void RefillSignal::stop() {
  boost::system::error_code ignored;
  event_.cancel(ignored);
}

}  // namespace stile::control
