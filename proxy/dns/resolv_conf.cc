// resolv.conf: the DNS servers of the host.
#include "proxy/dns/resolv_conf.h"

#include <sstream>
#include <string>

namespace stile::dns {

std::vector<acl::Address> parse_resolv_conf(std::string_view text) {
  std::vector<acl::Address> servers;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string keyword, value;
    if (!(words >> keyword >> value) || keyword != "nameserver") continue;
    if (const auto address = acl::Address::parse(value)) servers.push_back(*address);
  }
  return servers;
}

}  // namespace stile::dns
