// Observer: eyes on the host's side that see where the packets of a probe go.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "acl/result.h"
#include "proxy/base/unique_fd.h"

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

class Observer {
 public:
  // Listens on every device, and with raw sockets for every protocol that is probed: they get a
  // copy of all that is delivered, whichever port it is for. Also holds open_port open on all
  // addresses.
  static Result<Observer> open(std::uint64_t run);

  [[nodiscard]] std::uint16_t open_port() const noexcept { return port_; }
  // Everything seen since the last call. Waits that long for something to come.
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
