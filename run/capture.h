// capture: inside, names resolve to addresses that stand for them, and connections to these arrive
// here, so that programs which know no proxy reach what is allowed.
//
// Without root there are no rules for packets. So every address of the subnet is one of the
// loopback's own, and there is a listener for each port that the policy could allow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acl/address.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "config/settings.h"

namespace stile::run {

struct CapturePlan {
  acl::Prefix subnet;
  std::vector<std::uint16_t> ports;
  // Never stands for a name: AgentNames leaves the first addresses out.
  [[nodiscard]] acl::Address name_server() const noexcept;
  [[nodiscard]] std::string resolver_text() const;
  // How many open_capture opens.
  [[nodiscard]] std::size_t sockets() const noexcept { return 2 + ports.size(); }
};

// The ports of the lists and of the patterns of one agent. Pure.
[[nodiscard]] CapturePlan plan_capture(const config::Settings& settings,
                                       const config::AgentSettings& agent);

// In the calling process's network namespace: the name server's UDP socket, its TCP listener, then
// a listener for each port. The process needs the capabilities of that namespace.
[[nodiscard]] Result<std::vector<UniqueFd>> open_capture(const CapturePlan& plan);

}  // namespace stile::run
