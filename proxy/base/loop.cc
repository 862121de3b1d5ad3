// Loop: one thread's event loop: edge-triggered sockets, deadlines, and work from other threads.
#include "proxy/base/loop.h"

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <system_error>

#include "proxy/base/log.h"

namespace stile {
namespace {

log::Throttle unfinished_posts;

}  // namespace

Socket::IoResult Socket::read(char* buffer, std::size_t size) noexcept {
  for (;;) {
    const ssize_t n = ::recv(fd_.get(), buffer, size, 0);
    if (n >= 0) {
      // A short read has drained the socket, and the next byte makes a new edge. Not so after a
      // hang-up: its edge is used up, and the end of the stream must still be read. Nor at a mark.
      const bool is_short = n > 0 && static_cast<std::size_t>(n) < size;
      if (is_short && !has_hung_up() && !has_mark()) clear_readable();
      return {n, false, 0};
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      clear_readable();
      return {-1, true, 0};
    }
    return {-1, false, errno};
  }
}

Socket::IoResult Socket::write(const char* data, std::size_t size) noexcept {
  for (;;) {
    const ssize_t n = ::send(fd_.get(), data, size, MSG_NOSIGNAL);
    if (n >= 0) {
      if (static_cast<std::size_t>(n) < size) clear_writable();
      return {n, false, 0};
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      clear_writable();
      return {-1, true, 0};
    }
    return {-1, false, errno};
  }
}

void Socket::interrupt() noexcept {
  if (reader_) loop_->interrupted_.push_back(std::exchange(reader_, nullptr));
  if (writer_) loop_->interrupted_.push_back(std::exchange(writer_, nullptr));
}

void Socket::reset_when_closed() noexcept {
  const linger at_once{1, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

UniqueFd Socket::release() noexcept {
  ::epoll_ctl(loop_->epoll_.get(), EPOLL_CTL_DEL, fd_.get(), nullptr);
  return std::move(fd_);
}

bool Socket::was_lost() noexcept {
  if ((ready_ & failed) == 0) return false;
  ready_ &= static_cast<std::uint8_t>(~failed);
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error != 0 && error != EPIPE;  // EPIPE: the stream ended before the reset
}

void Socket::meet_mark() noexcept {
  const int on = 1;
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
  ready_ |= mark | ready_read;
}

void Socket::on_events(std::uint32_t events) noexcept {
  if ((events & EPOLLERR) != 0) ready_ |= failed;
  if ((events & EPOLLPRI) != 0) meet_mark();
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) ready_ |= dead | hung_up | ready_read | ready_write;
  if ((events & EPOLLRDHUP) != 0) ready_ |= hung_up | ready_read;
  if ((events & EPOLLIN) != 0) ready_ |= ready_read;
  if ((events & EPOLLOUT) != 0) ready_ |= ready_write;
}

void Socket::run() {
  if (std::exchange(reads_later_, false)) mark_readable();
  if (watcher_ != nullptr) {
    watcher_->on_ready(*this);
  } else {
    wake();
  }
}

void Socket::wake() {
  if (is_readable() && reader_) std::exchange(reader_, nullptr).resume();
  // The reader may have closed this socket; its memory stays until the turn ends.
  if (is_writable() && writer_) std::exchange(writer_, nullptr).resume();
}

void Socket::call_again() noexcept { loop_->shares_.add_waiting(*this); }

void SocketDeleter::operator()(Socket* socket) const noexcept {
  if (socket->is_borrowed_) {
    static_cast<void>(socket->release().release());
  } else {
    socket->fd_.reset();  // takes it out of epoll too: nothing here duplicates sockets
  }
  socket->watcher_ = nullptr;
  socket->reader_ = socket->writer_ = nullptr;
  socket->unlink();
  socket->loop_->closed_.push_back(*socket);
}

void Loop::free_closed() noexcept {
  while (!closed_.empty()) {
    auto* socket = static_cast<Socket*>(&closed_.front());
    closed_.pop_front();
    delete socket;
    --sockets_;
  }
}

// Interrupting a coroutine must work when memory is short, so its place in the list is reserved
// when the socket is made. At most two coroutines wait for a connection: the session and an upload.
void Loop::make_room() {
  ++sockets_;
  const std::size_t waiters = 2 * sockets_ + 64;
  for (auto* list : {&interrupted_, &running_}) {
    if (list->capacity() < waiters) list->reserve(std::max(waiters, 2 * list->capacity()));
  }
}

Loop::Loop(const Clock& clock)
    : clock_{clock},
      epoll_{::epoll_create1(EPOLL_CLOEXEC)},
      wakeup_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      now_{clock.now()},
      wheel_{now_},
      shares_{clock} {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;  // the only registration without a Socket
  if (!epoll_ || !wakeup_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &event) != 0) {
    throw std::system_error{errno, std::generic_category(), "event loop"};
  }
}

Loop::~Loop() { free_closed(); }

SocketPtr Loop::adopt(UniqueFd fd) {
  return adopt_level(std::move(fd), EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

SocketPtr Loop::adopt_level(UniqueFd fd, std::uint32_t events) {
  SocketPtr socket{new Socket{*this, std::move(fd)}};
  make_room();
  return watch_level(std::move(socket), events);
}

SocketPtr Loop::watch_level(SocketPtr socket, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = socket.get();
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket->fd(), &event) != 0) return nullptr;
  return socket;
}

SocketPtr Loop::borrow_level(int fd, std::uint32_t events) {
  SocketPtr socket{new Socket{*this, UniqueFd{}}};
  socket->is_borrowed_ = true;
  socket->fd_.reset(fd);
  make_room();
  return watch_level(std::move(socket), events);
}

void Loop::change_level(Socket& socket, std::uint32_t events) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &socket;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket.fd(), &event);
}

void Loop::post(std::function<void()> work) {
  {
    const std::lock_guard lock{posted_mutex_};
    posted_.push_back(std::move(work));
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(wakeup_.get(), &one, sizeof one);
}

void Loop::stop() noexcept {
  post([this] { stopped_ = true; });
}

void Loop::run_posted() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t ignored = ::read(wakeup_.get(), &count, sizeof count);
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock{posted_mutex_};
    work.swap(posted_);
  }
  for (auto& item : work) {
    try {
      item();
    } catch (const std::exception& problem) {
      unfinished_posts.warning("could not finish a change: ", problem.what());
    }
  }
}

void Loop::run_interrupted() {
  while (!interrupted_.empty()) {
    running_.swap(interrupted_);
    // By index: a resumed coroutine may adopt a socket, which may reallocate the list.
    for (std::size_t i = 0; i < running_.size(); ++i) {
      const auto waiter = running_[i];
      waiter.resume();
    }
    running_.clear();
  }
}

void Loop::run_scheduled() {
  run_interrupted();
  if (scheduled_.empty()) return;
  shares_.skip_time();
  while (!scheduled_.empty()) {
    Work& work = scheduled_.front();
    scheduled_.pop_front();
    shares_.serve(work, Share::most_with_resumed);
    run_interrupted();
  }
}

void Loop::run(const std::function<bool()>& end_of_turn) {
  std::array<epoll_event, 256> events;
  bool more = false;
  while (!stopped_) {
    const bool idle = interrupted_.empty() && scheduled_.empty() && !shares_.has_waiting() && !more;
    const int timeout = idle ? wheel_.timeout_ms(now_) : 0;
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), timeout);
    now_ = clock_.now();
    shares_.begin_turn();
    // Work from other threads first: after a policy change no byte moves under the old policy,
    // however long this thread was delayed.
    for (int i = 0; i < count; ++i) {
      if (events[static_cast<std::size_t>(i)].data.ptr == nullptr) run_posted();
    }
    shares_.skip_time();
    for (int i = 0; i < count; ++i) {
      auto* socket = static_cast<Socket*>(events[static_cast<std::size_t>(i)].data.ptr);
      // Closed earlier in this turn: the report is stale.
      if (socket == nullptr || socket->fd() < 0) continue;
      socket->on_events(events[static_cast<std::size_t>(i)].events);
      if (socket->is_patient_) {
        shares_.add_waiting(*socket);
      } else {
        shares_.serve(*socket);
      }
    }
    shares_.run_waiting();
    wheel_.advance(now_);
    run_scheduled();
    more = end_of_turn();
    free_closed();
  }
}

}  // namespace stile
