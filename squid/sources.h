// Sources: the clients of a squid.conf, grouped by the src acls that contain them.
#pragma once

#include <string>
#include <vector>

#include "acl/address.h"
#include "squid/conf.h"

namespace stile::squid {

struct SourceGroup {
  std::vector<std::string> acls;  // the acls used in rules that contain these addresses
  std::vector<acl::Prefix> prefixes;
  [[nodiscard]] bool is_in(const std::string& acl) const;
};

// The groups cover all addresses, and no two groups have the same acls.
[[nodiscard]] std::vector<SourceGroup> group_sources(const Conf& conf);

}  // namespace stile::squid
