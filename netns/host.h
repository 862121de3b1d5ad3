// FenceHost: everything that an operation of stile-netns holds open.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "netns/netlink.h"
#include "netns/records.h"
#include "netns/setup.h"

namespace stile::netns {

struct FenceHost {
  Setup setup;
  Netlink route;      // of the host's network namespace
  Netlink netfilter;  // of the same
  FenceRecords records;
  UniqueFd cards;    // /run/stile/agents.d
  gid_t card_group;  // the daemon's group, which may read a card

  // Creates the directories below /run if they are missing.
  static Result<FenceHost> open(Setup setup);
};

// Allows one change at a time, across all processes: so an incomplete state always belongs to a
// process that died. Held until destruction.
class Lock {
 public:
  static Result<Lock> take();

 private:
  explicit Lock(UniqueFd fd) : fd_{std::move(fd)} {}
  UniqueFd fd_;
};

}  // namespace stile::netns
