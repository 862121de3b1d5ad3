// flatten: turns an ordered list of rules into lists of allowed and denied names.
#pragma once

#include <string>
#include <vector>

#include "acl/pattern.h"
#include "squid/sources.h"

namespace stile::squid {

// What one group of sources may reach over one way (scheme and ports): the names of `allow` (all,
// if allows_all) that are not in `deny`.
struct Lists {
  bool allows_all = false;
  std::vector<std::string> allow, deny;  // names of acls
  [[nodiscard]] bool is_empty() const noexcept { return !allows_all && allow.empty(); }
  friend bool operator==(const Lists&, const Lists&) = default;
};

struct Way {
  acl::Scheme scheme = acl::Scheme::tunnel;
  std::uint16_t first_port = 0, last_port = 0;  // the rules treat these ports alike
  Lists lists;
  std::vector<const AccessLine*> lines;  // the rules that allow it
};

// Everything that is allowed, one way at a time. Rules that cannot be converted go into `problems`.
[[nodiscard]] std::vector<Way> flatten(const Conf& conf, const SourceGroup& group,
                                       config::Diagnostics& problems);

}  // namespace stile::squid
