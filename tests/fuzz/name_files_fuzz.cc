// Hosts file and resolv.conf: nothing but names and addresses comes out, and they stay themselves
// when they are written anew.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "acl/host.h"
#include "proxy/dns/hosts_file.h"
#include "proxy/dns/resolv_conf.h"
#include "tests/fuzz/check.h"

using namespace stile;

namespace {

void check_hosts(std::string_view text) {
  const dns::Hosts hosts = dns::parse_hosts(text);
  std::string written;
  for (const auto& [name, resolved] : hosts) {
    STILE_FUZZ_CHECK(acl::parse_host(name).host.text() == name && !resolved.addresses.empty());
    for (const auto& address : resolved.addresses) written += address.text() + " " + name + "\n";
  }
  const dns::Hosts again = dns::parse_hosts(written);
  STILE_FUZZ_CHECK(again.size() == hosts.size());
  for (const auto& [name, resolved] : hosts) {
    STILE_FUZZ_CHECK(again.at(name).addresses == resolved.addresses);
  }
}

void check_resolv_conf(std::string_view text) {
  const auto servers = dns::parse_resolv_conf(text);
  std::string written;
  for (const auto& address : servers) written += "nameserver " + address.text() + "\n";
  STILE_FUZZ_CHECK(dns::parse_resolv_conf(written) == servers);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check_hosts(text);
  check_resolv_conf(text);
  return 0;
}
