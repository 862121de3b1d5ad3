// DNS input for the resolvers: servers and hosts file, read and watched by the main thread.
#include "proxy/server/dns_environment.h"

#include <vector>

#include "base/files.h"
#include "proxy/dns/resolv_conf.h"
#include "proxy/net/sockaddr.h"

namespace stile::server {
namespace {

constexpr const char* resolv_conf = "/etc/resolv.conf";

}  // namespace

dns::Environment DnsFiles::read() {
  seen_ = {stamp(resolv_conf), stamp(settings_.hosts_file)};
  std::vector<std::pair<acl::Address, std::uint16_t>> servers;
  for (const config::Endpoint& server : settings_.servers) {
    servers.emplace_back(server.address, server.port);
  }
  if (servers.empty()) {
    for (const acl::Address& address : dns::parse_resolv_conf(read_or_empty(resolv_conf))) {
      servers.emplace_back(address, 53);
    }
  }
  if (servers.empty()) servers.emplace_back(acl::Address::v4(0x7f000001), 53);  // as resolv.conf(5)
  dns::Environment environment;
  for (const auto& [address, port] : servers) {
    if (!environment.servers.empty()) environment.servers += ',';
    environment.servers += net::endpoint_text(address, port);
  }
  if (!settings_.hosts_file.empty()) {
    environment.hosts =
        std::make_shared<dns::Hosts>(dns::parse_hosts(read_or_empty(settings_.hosts_file)));
  }
  return environment;
}

bool DnsFiles::changed() const {
  return seen_ != std::array<Stamp, 2>{stamp(resolv_conf), stamp(settings_.hosts_file)};
}

DnsFiles::Stamp DnsFiles::stamp(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {true, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ino,
          static_cast<std::uint64_t>(info.st_size)};
}

}  // namespace stile::server
