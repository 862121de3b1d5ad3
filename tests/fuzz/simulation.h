// A clock, a network, a disk and a DNS server in the fuzzer's hand, under the real session code.
//
// The clock is passed to the loop; the linker puts the rest there (--wrap, and a Channel in place
// of that of c-ares), so that the product does not know of it. Sockets are socket pairs, so
// reading, writing, splicing and epoll are the kernel's own.
#pragma once

#include <chrono>
#include <cstdint>

#include "acl/address.h"
#include "proxy/base/clock.h"

namespace stile::fuzz {

class Simulation : public Clock {
 public:
  Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  void advance(std::chrono::milliseconds by) noexcept { clock_ += by; }
  // Each reading takes some time, so that agents use up their shares.
  [[nodiscard]] SteadyTime now() const noexcept override {
    return SteadyTime{clock_ += std::chrono::microseconds{20}};
  }

  // `fills_up`: half of the next write is there, and then there is no more space.
  enum class Disk : std::uint8_t { works, fills_up, is_full, count };
  Disk disk = Disk::works;

  // The loop has nothing left to do: the next thing happens now.
  virtual void on_idle() = 0;
  // A socket that is being connected. Returns 0 or an errno; may put another socket in its place.
  virtual int on_connect(int fd, const acl::Address& address, std::uint16_t port) = 0;
  // The audit log is about to be written.
  virtual void on_log_write() = 0;

 protected:
  ~Simulation();

 private:
  mutable std::chrono::nanoseconds clock_{std::chrono::hours{1}};
};

// How the DNS server answers. All but the first few are no address that may be dialled.
enum class DnsAnswer : std::uint8_t {
  address,
  address_behind_alias,
  address_among_private,
  private_address,
  private_behind_alias,
  other_name,
  other_letters,
  no_name,
  failure,
  garbage,
  nothing,
  count,
};
// Answers the question that was asked first of those under way, if there is one.
void answer_question(DnsAnswer answer);

}  // namespace stile::fuzz
