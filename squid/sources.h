// Sources: the clients of a squid.conf, grouped by the src acls that they are in.
#pragma once

#include <string>
#include <vector>

#include "acl/address.h"
#include "squid/conf.h"

namespace stile::squid {

struct SourceGroup {
  std::vector<std::string> acls;  // of those that rules use, in which these addresses are
  std::vector<acl::Prefix> prefixes;
  [[nodiscard]] bool is_in(const std::string& acl) const;
};

// Together they are all addresses, and no two groups have the same acls.
[[nodiscard]] std::vector<SourceGroup> group_sources(const Conf& conf);

}  // namespace stile::squid
