// Loop: one thread's event loop: edge-triggered sockets, deadlines, and work from other threads.
//
// A socket is registered once, for both directions, and remembers what it is ready for; waiting
// costs no system call. That, and an end-of-turn hook for the audit log, is why this is not an
// io_context: docs/decisions/0001-own-event-loop.md has the figures.
#pragma once

#include <sys/epoll.h>
#include <sys/types.h>

#include <cassert>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/unique_fd.h"
#include "proxy/base/frame_pool.h"
#include "proxy/base/shares.h"
#include "proxy/base/timer_wheel.h"

namespace stile {

class Loop;
class Socket;

// Notified when a socket becomes ready and no coroutine waits for it.
class Watcher {
 public:
  virtual void on_ready(Socket& socket) = 0;

 protected:
  ~Watcher() = default;
};

// A registered descriptor. Made by Loop::adopt; destroyed through SocketPtr, which closes at once
// and keeps the memory until the turn ends, since epoll may already have reported it.
class Socket final : public Pooled, public Work {
 public:
  struct IoResult {
    ssize_t bytes = -1;        // 0: end of stream
    bool would_block = false;  // bytes == -1 and the connection has not failed
    int error = 0;
  };

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] bool is_readable() const noexcept { return (ready_ & ready_read) != 0; }
  [[nodiscard]] bool is_writable() const noexcept { return (ready_ & ready_write) != 0; }
  // The peer is gone or has ended its stream; there may still be bytes to read.
  [[nodiscard]] bool has_hung_up() const noexcept { return (ready_ & hung_up) != 0; }

  // The peer has sent urgent data: reads stop short at its mark with more data after it, and
  // splice(2) does not get past it.
  [[nodiscard]] bool has_mark() const noexcept { return (ready_ & mark) != 0; }
  // From now on an urgent byte is part of the stream, in its place.
  void meet_mark() noexcept;

  // Each makes one system call and updates the readiness from its result.
  [[nodiscard]] IoResult read(char* buffer, std::size_t size) noexcept;
  [[nodiscard]] IoResult write(const char* data, std::size_t size) noexcept;
  // For calls made on fd() directly (splice) that returned EAGAIN.
  void clear_readable() noexcept { ready_ &= static_cast<std::uint8_t>(~ready_read); }
  void clear_writable() noexcept { ready_ &= static_cast<std::uint8_t>(~ready_write); }
  // For a layer that has read ahead: its reader must be called again although the socket is empty.
  void mark_readable() noexcept { ready_ |= ready_read; }
  // The same after other work: reading took long.
  void read_later() noexcept {
    clear_readable();
    reads_later_ = true;
    call_again();
  }

  // Reset, or closed in both directions: writes no longer reach the peer.
  [[nodiscard]] bool is_dead() const noexcept { return (ready_ & dead) != 0; }
  // The connection was reset or lost. False after an orderly end, when bytes may be left to read.
  // Checks each failure once.
  [[nodiscard]] bool was_lost() noexcept;

  void watch(Watcher* watcher) noexcept { watcher_ = watcher; }
  // For a watcher that only observes: resumes the coroutines that wait for the socket's current
  // readiness. The socket may be closed when this returns.
  void wake();
  // Notifies the watcher or the waiting coroutine again, after other work: it stopped before it was
  // done.
  void call_again() noexcept;
  // This socket has bulk data pending: its events are served after all others of a turn, in turn
  // with other waiting work, and in a later turn of the loop if that takes too long.
  void be_patient(bool on) noexcept { is_patient_ = on; }

  struct Wait {
    Socket& socket;
    bool for_write;
    [[nodiscard]] bool await_ready() const noexcept {
      return for_write ? socket.is_writable() : socket.is_readable();
    }
    void await_suspend(std::coroutine_handle<> waiter) const noexcept {
      socket.set_waiter(for_write ? socket.writer_ : socket.reader_, waiter);
    }
    void await_resume() const noexcept {}
  };
  // One waiter per direction. Returns when ready or interrupted: check your own flag.
  [[nodiscard]] Wait readable() noexcept { return {*this, false}; }
  [[nodiscard]] Wait writable() noexcept { return {*this, true}; }
  // Like readable(), but other connections go first.
  struct Turn {
    Socket& socket;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) const noexcept {
      socket.set_waiter(socket.reader_, waiter);
      socket.call_again();
    }
    void await_resume() const noexcept {}
  };
  [[nodiscard]] Turn readable_again() noexcept { return {*this}; }
  void interrupt() noexcept;

  // Close with a reset, dropping unsent data, so that a cut stream does not look finished.
  void reset_when_closed() noexcept;
  // Removes the descriptor from the loop without closing it.
  [[nodiscard]] UniqueFd release() noexcept;

 private:
  friend class Loop;
  friend struct SocketDeleter;
  static constexpr std::uint8_t ready_read = 1, ready_write = 2, hung_up = 4, dead = 8, failed = 16,
                                mark = 32;
  Socket(Loop& loop, UniqueFd fd) noexcept : loop_{&loop}, fd_{std::move(fd)} {}
  // A second waiter would replace the first, which would never run again.
  static void set_waiter(std::coroutine_handle<>& place, std::coroutine_handle<> waiter) noexcept {
    assert(!place && "one waiter per direction of a socket");
    place = waiter;
  }
  void on_events(std::uint32_t events) noexcept;
  void run() override;  // notifies the watcher or the waiting coroutine

  Loop* loop_;
  Watcher* watcher_ = nullptr;
  std::coroutine_handle<> reader_, writer_;
  UniqueFd fd_;
  std::uint8_t ready_ = 0;
  bool is_patient_ = false;
  bool reads_later_ = false;
  bool is_borrowed_ = false;
};

struct SocketDeleter {
  void operator()(Socket* socket) const noexcept;
};
using SocketPtr = std::unique_ptr<Socket, SocketDeleter>;

class Loop {
 public:
  explicit Loop(const Clock& clock = steady_clock());
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs until stop(). `end_of_turn` is called after everything that was ready has been served. It
  // returns true if it has more to do; it is then called again without waiting for events.
  void run(const std::function<bool()>& end_of_turn);
  void stop() noexcept;                   // from any thread
  void post(std::function<void()> work);  // from any thread; runs on the loop's

  // Edge-triggered for both directions. Null (with errno) if the kernel refuses.
  [[nodiscard]] SocketPtr adopt(UniqueFd fd);
  // Level-triggered, for descriptors that other code reads (listeners, the resolver's): `events` of
  // epoll. The socket's readiness is set again before each call of the watcher.
  [[nodiscard]] SocketPtr adopt_level(UniqueFd fd, std::uint32_t events);
  // The same for a descriptor that its owner keeps, and closes after the socket is gone.
  [[nodiscard]] SocketPtr borrow_level(int fd, std::uint32_t events);
  void change_level(Socket& socket, std::uint32_t events) noexcept;

  // Runs it in this turn, after the current event, or later if its agent has used its share.
  void schedule(Work& work) noexcept {
    if (!work.is_linked()) scheduled_.push_back(work);
  }
  // Runs it at once, or later if its agent has used its share. For work resumed at the end of a
  // turn.
  void serve(Work& work) {
    shares_.skip_time();
    shares_.serve(work, Share::most_with_resumed);
  }
  // The share of the agent being served; null if none is.
  [[nodiscard]] const std::shared_ptr<Share>& current_share() const noexcept {
    return shares_.current();
  }

  [[nodiscard]] SteadyTime now() const noexcept { return now_; }  // of this turn
  void arm(Deadline& deadline, std::chrono::milliseconds after) noexcept {
    wheel_.arm(deadline, now_ + after);
  }

 private:
  friend class Socket;
  friend struct SocketDeleter;
  [[nodiscard]] SocketPtr watch_level(SocketPtr socket, std::uint32_t events);
  void make_room();
  void free_closed() noexcept;
  void run_posted();
  void run_interrupted();
  void run_scheduled();

  const Clock& clock_;
  UniqueFd epoll_, wakeup_;
  SteadyTime now_;
  TimerWheel wheel_;
  Shares shares_;
  // Intrusive lists: running work and closing sockets must not need memory.
  Work::List scheduled_;
  Work::List closed_;                                           // sockets, freed when the turn ends
  std::vector<std::coroutine_handle<>> interrupted_, running_;  // room for all: see make_room
  std::size_t sockets_ = 0;
  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;
  bool stopped_ = false;  // only the loop's thread writes it: stop() posts
};

}  // namespace stile
