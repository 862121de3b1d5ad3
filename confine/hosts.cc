// hosts: the names of /etc/hosts that hold inside, too.
#include "confine/hosts.h"

#include "acl/address.h"

namespace stile::confine {
namespace {

constexpr std::string_view blanks = " \t\r";

bool is_loopback(std::string_view address) {
  const auto parsed = acl::Address::parse(address);
  static const auto network = acl::Prefix::parse("127.0.0.0/8"),
                    itself = acl::Prefix::parse("::1/128");
  return parsed && network && itself && (network->contains(*parsed) || itself->contains(*parsed));
}

}  // namespace

std::string hosts_inside(std::string_view hosts) {
  std::string kept{hosts_mark};
  kept += "127.0.0.1 localhost\n::1 localhost\n";
  while (!hosts.empty()) {
    const auto end = hosts.find('\n');
    auto line = hosts.substr(0, end);
    hosts.remove_prefix(end == std::string_view::npos ? hosts.size() : end + 1);
    line = line.substr(0, line.find('#'));
    const auto start = line.find_first_not_of(blanks);
    if (start == std::string_view::npos) continue;
    line.remove_prefix(start);
    if (is_loopback(line.substr(0, line.find_first_of(blanks)))) kept.append(line).append("\n");
  }
  return kept;
}

}  // namespace stile::confine
