// Observer: sees on the host's side where the packets of a probe go.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::netns {

struct Sighting {
  enum class Place : std::uint8_t {
    arrived,  // came in through a device
    left,     // went out through a device
    reached,  // was delivered to the host itself
  };
  Place place = Place::arrived;
  int device = 0;  // for the first two
  std::uint64_t probe = 0;
};

// Whether a frame is ICMP, "destination unreachable". Pure.
[[nodiscard]] bool is_unreachable_error(std::string_view frame) noexcept;

class Observer {
 public:
  // Listens on every device, and with raw sockets for every probed protocol, which get a copy of
  // all delivered packets for any port. Also keeps open_port open on all addresses.
  static Result<Observer> open(std::uint64_t run);

  [[nodiscard]] std::uint16_t open_port() const noexcept { return port_; }
  // Everything seen since the last call. Waits up to that time for a packet.
  [[nodiscard]] std::vector<Sighting> look(int patience_ms);

 private:
  explicit Observer(std::uint64_t run) : run_{run} {}

  std::uint64_t run_;
  UniqueFd devices_;
  std::vector<UniqueFd> deliveries_;
  UniqueFd listener_;
  std::uint16_t port_ = 0;
};

}  // namespace stile::netns
