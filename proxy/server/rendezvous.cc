// Rendezvous: a pair of sockets, of which systemd keeps one end.
#include "proxy/server/rendezvous.h"

#include <poll.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "base/system_error.h"

namespace stile::server {
namespace {

constexpr std::uint64_t systemd_answers_us = 2'000'000;

bool is_alone(const HandoverLink& link) {
  pollfd entry{link.fd(), POLLIN, 0};
  return ::poll(&entry, 1, 0) != 0;
}

}  // namespace

Result<HandoverLink> leave_rendezvous() {
  auto pair = HandoverLink::make();
  if (!pair) return pair.error();
  const std::string text = std::string{"FDSTORE=1\nFDNAME="} + rendezvous_name;
  const int other = pair->second.get();
  if (const int sent = ::sd_pid_notify_with_fds(0, 0, text.c_str(), &other, 1); sent <= 0) {
    return system_error("systemd", -sent);
  }
  // A descriptor that systemd does not store is closed when it has answered.
  if (const int answered = ::sd_notify_barrier(0, systemd_answers_us); answered <= 0) {
    return system_error("systemd", -answered);
  }
  pair->second.reset();
  if (is_alone(pair->first)) {
    return Error{"systemd does not keep a socket; the unit needs FileDescriptorStoreMax="};
  }
  return std::move(pair->first);
}

HandoverLink take_rendezvous() {
  char** names = nullptr;
  const int count = ::sd_listen_fds_with_names(0, &names);
  HandoverLink found;
  for (int i = 0; i < count; ++i) {
    const std::unique_ptr<char, decltype(&std::free)> given{names[i], &std::free};
    if (std::string{given.get()} != rendezvous_name) continue;
    // A place stays empty, for passed_sockets().
    HandoverLink link{UniqueFd{SD_LISTEN_FDS_START + i}};
    if (!is_alone(link)) found = std::move(link);
  }
  std::free(names);
  return found;
}

}  // namespace stile::server
