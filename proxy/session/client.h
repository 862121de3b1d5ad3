// Client: one client connection: its stream, the bytes it has sent, its deadline and its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/event.h"
#include "proxy/base/loop.h"
#include "proxy/base/task.h"
#include "proxy/net/stream.h"
#include "proxy/session/context.h"
#include "proxy/session/live.h"

namespace stile::session {

class Client final : private Deadline, private Watcher {
 public:
  using Reason = acl::Reason;

  // What a request waits for besides its client. It must return when the request is cancelled.
  class Follower {
   public:
    virtual void on_cancel() noexcept = 0;

   protected:
    ~Follower() = default;
  };

  Client(Context& worker, SocketPtr connection, Peer who);
  ~Client() { context.buffers.give_back(std::move(in)); }

  // One read into `in`; may return with nothing new. False: ended, failed or cancelled.
  Task<bool> read_more();
  // The same into the worker's buffer, without waiting: `got` is valid until the caller next waits.
  [[nodiscard]] bool read_now(std::string_view& got, std::uint64_t most) noexcept;
  // Sends all of it. False: failed or cancelled, and nothing more may follow.
  Task<bool> send(std::string_view bytes) { return send_to(stream, bytes); }
  // The same to another stream. `count` grows by the bytes sent, also if those are not all.
  Task<bool> send_to(net::Stream& to, std::string_view bytes, std::uint64_t* count = nullptr);
  // Sends what the stream takes now, and returns the rest. Unlike send_to() it does not wait, so
  // the bytes may be in the worker's buffer. send_to() must follow if there is a rest, or if the
  // stream has something unsent.
  [[nodiscard]] std::string_view send_now(net::Stream& to, std::string_view bytes,
                                          std::uint64_t* count = nullptr) noexcept;
  // Closing a socket with unread bytes resets it, and the client may lose the answer. So this reads
  // what the client still sends, within bounds.
  Task<> linger();

  // Every wait returns at once; the waiter then checks is_cancelled().
  void cancel(Reason reason);
  [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_ != Reason::none; }
  [[nodiscard]] Reason cancelled() const noexcept { return cancelled_; }
  [[nodiscard]] Reason cancelled_or(Reason otherwise) const noexcept {
    return is_cancelled() ? cancelled_ : otherwise;
  }
  // The request was cancelled, not the connection: the client still gets an answer.
  void clear_cancel() noexcept { cancelled_ = Reason::none; }
  void follow(Follower* follower) noexcept { follower_ = follower; }

  // Cancels with that reason unless it is cleared or set again first.
  void set_deadline(std::chrono::milliseconds after, Reason reason);
  void clear_deadline() noexcept { disarm(); }

  Task<> wait(Event& event);
  void stop_waiting();  // ends the current wait()
  // Returns when more of a budget or grant may be on record, or when a request was cancelled: check
  // again.
  Task<> wait_for_refill();

  // A client that disconnects while it waits for an origin frees its slot at once: from here on a
  // lost connection cancels with that reason. `none` turns this off.
  // `end_too`: also a client that has ended its side counts as gone, since it could not use an
  // answer.
  enum class Loss : bool { only_lost, end_too };
  void watch_for_loss(Reason reason, Loss loss = Loss::only_lost) noexcept;

  // The connection has become a tunnel, which owns its socket and peer.
  [[nodiscard]] bool has_left() const noexcept { return !stream; }
  [[nodiscard]] bool is_draining() const noexcept {
    return drains || context.shared.draining.load(std::memory_order_relaxed);
  }

  Context& context;
  Peer peer;
  net::Stream stream;
  std::string in;              // received and not yet used
  std::size_t head_bytes = 0;  // size of the current head in it
  // Of a tunnel that is opened: its authority, canonical, that of every request inside. Empty: the
  // client speaks to the proxy itself.
  std::string inside;
  // Of a captured connection with plain HTTP: the same.
  std::string captured;
  bool drains = false;  // finish the current request, accept no new ones

 private:
  void on_deadline() override { cancel(deadline_reason_); }
  void on_ready(Socket& ready) override;

  Follower* follower_ = nullptr;
  Event* waiting_for_ = nullptr;
  Reason deadline_reason_ = Reason::header_timeout;
  Reason loss_reason_ = Reason::none;
  Loss loss_ = Loss::only_lost;
  Reason cancelled_ = Reason::none;
};

}  // namespace stile::session
