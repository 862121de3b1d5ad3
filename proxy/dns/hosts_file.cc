// The hosts file: names whose addresses the operator sets.
#include "proxy/dns/hosts_file.h"

#include "acl/host.h"

namespace stile::dns {
namespace {

std::string_view next_word(std::string_view& line) {
  const auto begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return line = {};
  line.remove_prefix(begin);
  const auto word = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

Hosts parse_hosts(std::string_view text) {
  Hosts hosts;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find('#'));
    const auto address = acl::Address::parse(next_word(line));
    if (!address) continue;
    for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
      const auto parsed = acl::parse_host(word);
      if (parsed.kind != acl::HostParse::Kind::name) continue;
      hosts[std::string{parsed.host.text()}].addresses.push_back(*address);
    }
  }
  return hosts;
}

}  // namespace stile::dns
