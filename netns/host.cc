// FenceHost: everything that an operation of stile-netns holds open.
#include "netns/host.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/system_error.h"
#include "config/accounts.h"
#include "netns/root_directory.h"

namespace stile::netns {
namespace {

constexpr const char* daemon_group = "stile";

}  // namespace

Result<FenceHost> FenceHost::open(Setup setup) {
  if (::geteuid() != 0) return Error{"stile-netns needs to be root"};
  if (auto directory = open_directory(run_directory, 0755); !directory) return directory.error();
  // Root's group if that group does not exist: then the daemon also runs as root.
  const gid_t group = config::find_group(daemon_group).value_or(0);
  auto cards = open_directory(card_directory, 0750, group);
  if (!cards) return cards.error();
  auto records = FenceRecords::open();
  if (!records) return records.error();
  auto route = Netlink::open(NETLINK_ROUTE);
  if (!route) return route.error();
  auto netfilter = Netlink::open(NETLINK_NETFILTER);
  if (!netfilter) return netfilter.error();
  return FenceHost{std::move(setup),    std::move(*route), std::move(*netfilter),
                   std::move(*records), std::move(*cards), group};
}

Result<Lock> Lock::take() {
  const std::string path = std::string{run_directory} + "/netns.lock";
  UniqueFd fd{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!fd) return system_error("cannot open " + path);
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return system_error("cannot lock " + path);
  }
  return Lock{std::move(fd)};
}

}  // namespace stile::netns
