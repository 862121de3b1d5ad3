// DaemonLink: the control socket as stile-fleet uses it. Blocking: the daemon is on this host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "config/fleet_layer.h"
#include "fleet/applier.h"

namespace stile::fleet {

class DaemonLink {
 public:
  // `socket`: as for control::daemon_sockets().
  explicit DaemonLink(std::string socket) : socket_{std::move(socket)} {}

  // What the daemon kept of an earlier run.
  [[nodiscard]] Result<config::FleetState> memory() const;
  [[nodiscard]] Handed hand_over(const config::FleetState& state) const;
  // For the metrics; an error is of no consequence.
  void report(bool is_connected) const;
  // How an agent uses its share of a budget; nullopt: it has none.
  struct Usage {
    std::uint64_t used = 0;
    bool is_waiting = false;  // it goes on when there is more
  };
  [[nodiscard]] std::optional<Usage> usage(const std::string& agent) const;
  // What `stile fleet replay` says of this candidate: one line of JSON. Takes as long as the log
  // is.
  [[nodiscard]] std::string replay(const config::FleetState& state) const;
  struct Overview {
    std::string version, mode;
    // The last checks of the agents' fences; none were reported if `checked` is 0.
    std::uint64_t checked = 0, failed = 0;
    std::string problem;
  };
  [[nodiscard]] Overview overview() const;

 private:
  [[nodiscard]] Result<std::string> ask(const std::string& line, int descriptor = -1) const;

  std::string socket_;
};

}  // namespace stile::fleet
