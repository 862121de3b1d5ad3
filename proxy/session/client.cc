// Client: one client connection: its stream, the bytes it has sent, its deadline and its end.
#include "proxy/session/client.h"

#include <algorithm>

namespace stile::session {
namespace {

constexpr std::size_t linger_bytes = 256 * 1024;
constexpr std::chrono::milliseconds linger_time{1000};

}  // namespace

Client::Client(Context& worker, SocketPtr connection, Peer who)
    : context{worker},
      peer{std::move(who)},
      stream{std::move(connection)},
      in{worker.buffers.take()} {}

Task<bool> Client::read_more() {
  co_await stream.socket().readable();
  std::string_view got;
  if (!read_now(got, context.relay.buffer.size())) co_return false;
  in += got;
  co_return true;
}

bool Client::read_now(std::string_view& got, std::uint64_t most) noexcept {
  if (is_cancelled()) return false;
  auto& buffer = context.relay.buffer;
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(most, buffer.size()));
  const auto read = stream.read(buffer.data(), size);
  if (read.would_block) return true;
  if (read.bytes <= 0) return false;
  got = {buffer.data(), static_cast<std::size_t>(read.bytes)};
  return true;
}

std::string_view Client::send_now(net::Stream& to, std::string_view bytes,
                                  std::uint64_t* count) noexcept {
  while (!bytes.empty() && to.socket().is_writable() && !is_cancelled()) {
    const auto sent = to.write(bytes.data(), bytes.size());
    if (sent.bytes < 0) break;  // send_to() meets a failure again
    bytes.remove_prefix(static_cast<std::size_t>(sent.bytes));
    if (count != nullptr) *count += static_cast<std::size_t>(sent.bytes);
  }
  return bytes;
}

Task<bool> Client::send_to(net::Stream& to, std::string_view bytes, std::uint64_t* count) {
  while (!bytes.empty()) {
    if (!to.socket().is_writable()) co_await to.socket().writable();
    if (is_cancelled()) co_return false;
    const auto sent = to.write(bytes.data(), bytes.size());
    if (sent.would_block) continue;
    if (sent.bytes < 0) co_return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent.bytes));
    if (count != nullptr) *count += static_cast<std::size_t>(sent.bytes);
  }
  while (to.has_unsent()) {
    if (!to.socket().is_writable()) co_await to.socket().writable();
    if (is_cancelled()) co_return false;
    const auto sent = to.flush();
    if (sent.bytes < 0 && !sent.would_block) co_return false;
  }
  co_return true;
}

Task<> Client::linger() {
  if (!stream.has_input() && in.size() <= head_bytes) co_return;
  stream.end_output();
  set_deadline(linger_time, Reason::idle_timeout);
  auto& buffer = context.relay.buffer;
  for (std::size_t left = linger_bytes; left > 0;) {
    co_await stream.socket().readable();
    if (is_cancelled()) co_return;
    const auto got = stream.read(buffer.data(), std::min(left, buffer.size()));
    if (got.would_block) continue;
    if (got.bytes <= 0) co_return;
    left -= static_cast<std::size_t>(got.bytes);
  }
}

void Client::cancel(Reason reason) {
  if (has_left() || is_cancelled()) return;
  cancelled_ = reason;
  stream.socket().interrupt();
  if (follower_ != nullptr) follower_->on_cancel();
  stop_waiting();
  context.paused.wake();  // this client may be among the waiters
}

void Client::set_deadline(std::chrono::milliseconds after, Reason reason) {
  deadline_reason_ = reason;
  context.loop.arm(*this, after);
}

Task<> Client::wait(Event& event) {
  waiting_for_ = &event;
  if (!is_cancelled()) co_await event;
  waiting_for_ = nullptr;
}

void Client::stop_waiting() {
  if (waiting_for_ != nullptr) waiting_for_->fire();
}

Task<> Client::wait_for_refill() {
  struct Pause final : net::Paused {
    explicit Pause(Loop& loop) : event{loop} {}
    void on_refill() override { event.fire(); }
    Event event;
  } pause{context.loop};
  context.paused.add(pause);
  co_await pause.event;
}

void Client::watch_for_loss(Reason reason, Loss loss) noexcept {
  loss_reason_ = reason;
  loss_ = loss;
  stream.socket().watch(reason == Reason::none ? nullptr : this);
}

void Client::on_ready(Socket& ready) {
  if (ready.is_dead() || (loss_ == Loss::end_too && ready.has_hung_up())) cancel(loss_reason_);
  ready.wake();
}

}  // namespace stile::session
