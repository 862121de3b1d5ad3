// HelloGuard: collects a tunnel's bytes until its second ClientHello, if any, is complete. Pure;
// the caller decides about that hello.
//
// A server may ask for another hello (HelloRetryRequest), and a client could name another host in
// it, or send it before it was asked. So until the server's first flight is known, the client's
// handshake records are held back; its other records (early data) name no host and are passed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/frame_pool.h"
#include "proxy/tls/client_hello.h"

namespace stile::session {

// A guard whose origin has not answered the first hello, so that another process can continue it.
struct FrozenGuard {
  std::string held, flight;
  std::uint8_t header_seen = 0;
  std::uint16_t length = 0, body_left = 0;
  // Whether a guard can be in this state.
  [[nodiscard]] bool is_possible() const noexcept;
};

class HelloGuard final : public Pooled {
 public:
  HelloGuard() = default;
  explicit HelloGuard(FrozenGuard frozen) noexcept;
  // Only before a second hello is due.
  [[nodiscard]] FrozenGuard freeze() noexcept;
  [[nodiscard]] std::size_t held_bytes() const noexcept { return held_.size() + flight_.size(); }

  enum class Step {
    go_on,
    not_tls,  // the client's bytes are not part of a handshake: cut the tunnel
    judge,    // second_hello() is complete: release() it or cut the tunnel
  };
  // Bytes from the client. Appends to `out` what may go to the origin now.
  [[nodiscard]] Step from_client(std::string_view bytes, std::string& out);
  // Bytes from the origin (they always go to the client). Appends the held bytes that they release.
  [[nodiscard]] Step from_origin(std::string_view bytes, std::string& out);

  // Its server name points into the held bytes.
  [[nodiscard]] const tls::Hello& second_hello() const noexcept { return hello_; }
  // The second hello may pass, and with it all that follows.
  void release(std::string& out);

  [[nodiscard]] bool is_done() const noexcept { return state_ == State::done; }
  [[nodiscard]] bool awaits_hello() const noexcept { return state_ == State::second_hello; }

 private:
  enum class State { first_flight, second_hello, done };
  [[nodiscard]] Step advance(std::string& out);
  void pass_records(std::string& out);

  State state_ = State::first_flight;
  std::string held_;    // from the client, not yet sent on
  std::string flight_;  // from the origin, until it is known
  // The client's position in a record that is passed on.
  std::size_t header_seen_ = 0, length_ = 0, body_left_ = 0;
  tls::HelloReader second_ = tls::HelloReader::for_second_hello();
  tls::Hello hello_;
};

}  // namespace stile::session
