// suffixes: finds suffixes that would cover several hosts.
#include "cli/suffixes.h"

#include <map>

#include "acl/public_suffix.h"

namespace stile::cli {
namespace {

bool is_within(const std::string& host, const std::string& name) {
  if (host.size() <= name.size()) return host == name;
  return host.ends_with(name) && host[host.size() - name.size() - 1] == '.';
}

}  // namespace

std::vector<SuggestedSuffix> find_suffixes(const std::vector<std::string>& hosts) {
  struct Group {
    std::string common;
    std::vector<std::string> hosts;
  };
  std::map<std::string, Group> groups;
  for (const auto& host : hosts) {
    const auto name = acl::registered_name(host);
    if (name.empty()) continue;
    Group& group = groups[name];
    if (group.hosts.empty()) group.common = host;
    while (!is_within(host, group.common)) group.common = acl::name_above(group.common);
    group.hosts.push_back(host);
  }
  std::vector<SuggestedSuffix> suffixes;
  for (auto& [name, group] : groups) {
    if (group.hosts.size() > 1) suffixes.push_back({'.' + group.common, std::move(group.hosts)});
  }
  return suffixes;
}

}  // namespace stile::cli
