// Host: everything that an operation of stile-netns holds open.
#pragma once

#include <sys/types.h>

#include "acl/result.h"
#include "netns/netlink.h"
#include "netns/records.h"
#include "netns/setup.h"
#include "proxy/base/unique_fd.h"

namespace stile::netns {

struct Host {
  Setup setup;
  Netlink route;      // of the host's network namespace
  Netlink netfilter;  // of the same
  Records records;
  UniqueFd cards;    // /run/stile/agents.d
  gid_t card_group;  // who may read a card: the daemon's group

  // Makes the directories below /run if they are not there.
  static Result<Host> open(Setup setup);
};

// One change at a time, over all processes: what is half made is then always somebody's who died.
// Held until it ends.
class Lock {
 public:
  static Result<Lock> take();

 private:
  explicit Lock(UniqueFd fd) : fd_{std::move(fd)} {}
  UniqueFd fd_;
};

}  // namespace stile::netns
