// Bell: workers ring it, the main thread comes.
#include "proxy/server/bell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace stile::server {

Bell::Bell(boost::asio::io_context& context) : event_{context} {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) throw std::system_error{errno, std::generic_category(), "eventfd"};
  event_.assign(fd);
}

void Bell::ask() noexcept {
  if (rings_.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(event_.native_handle(), &one, sizeof one);
}

void Bell::wait(std::function<void()> come) {
  event_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                    [this, come = std::move(come)](const boost::system::error_code& ec) {
                      if (ec) return;
                      std::uint64_t count = 0;
                      [[maybe_unused]] const ssize_t ignored =
                          ::read(event_.native_handle(), &count, sizeof count);
                      rings_.exchange(false);  // before looking: who asks now rings again
                      come();
                    });
}

void Bell::stop() {
  boost::system::error_code ignored;
  event_.cancel(ignored);
}

}  // namespace stile::server
