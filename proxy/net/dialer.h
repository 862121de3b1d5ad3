// Dialer: the first of several checked addresses that answers (Happy Eyeballs, RFC 8305).
#pragma once

#include <boost/container/small_vector.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "acl/address.h"
#include "proxy/base/event.h"
#include "proxy/base/loop.h"

namespace stile::net {

// It gets addresses, never a name: there is no DNS lookup between check and dial.
class Dialer final : private Watcher, private Deadline {
 public:
  Dialer(Loop& loop, std::vector<acl::Address> addresses, std::uint16_t port);
  ~Dialer() = default;

  // Wait for it; then either socket() is connected or error() has the error of the last attempt.
  Event done;
  void start();
  // Stops all attempts and starts no more.
  void stop() noexcept;
  [[nodiscard]] SocketPtr take_socket() noexcept { return std::move(winner_); }
  [[nodiscard]] bool has_socket() const noexcept { return winner_ != nullptr; }
  [[nodiscard]] const acl::Address& address() const noexcept { return winner_address_; }
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  struct Attempt {
    SocketPtr socket;
    acl::Address address;
  };
  void on_ready(Socket& socket) override;
  void on_deadline() override { next_attempt(); }
  void next_attempt();

  Loop& loop_;
  std::shared_ptr<Share> share_;  // of the agent that dials
  std::vector<acl::Address> addresses_;
  std::size_t next_ = 0;
  std::uint16_t port_;
  boost::container::small_vector<Attempt, 1> attempts_;
  SocketPtr winner_;
  acl::Address winner_address_;
  int error_ = 0;
};

// RFC 8305 section 4: families alternate, IPv6 first, each in the order of the answer.
[[nodiscard]] std::vector<acl::Address> interleave_families(std::vector<acl::Address> addresses);

}  // namespace stile::net
