// suffixes: finds suffixes that would cover several hosts.
#include "cli/suffixes.h"

#include <map>
#include <string_view>

#include "acl/public_suffix.h"

namespace stile::cli {
namespace {

std::string parent_of(const std::string& name) {
  const auto dot = name.find('.');
  return dot == std::string::npos ? std::string{} : name.substr(dot + 1);
}

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
    while (!is_within(host, group.common)) group.common = parent_of(group.common);
    group.hosts.push_back(host);
  }
  std::vector<SuggestedSuffix> suffixes;
  for (auto& [name, group] : groups) {
    if (group.hosts.size() > 1) suffixes.push_back({'.' + group.common, std::move(group.hosts)});
  }
  return suffixes;
}

}  // namespace stile::cli
