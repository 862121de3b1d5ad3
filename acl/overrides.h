// overrides_in: what a request names in place of its method, path and host. Some servers follow it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/inside.h"

namespace stile::acl {

struct Overrides {
  // Of a field such as X-HTTP-Method-Override, or of `_method` in the query; in upper case. Several
  // are joined, and then are no method that a rule has. Empty: there is none.
  std::string method;
  // A field such as X-Original-URL is there.
  bool has_path = false;
  // Of fields such as X-Forwarded-Host, by which some servers choose the tenant; views of their
  // values. `Forwarded` counts as a whole, since it has no host alone.
  std::vector<std::string_view> hosts;
};

[[nodiscard]] Overrides overrides_in(std::span<const RequestField> fields, std::string_view query);

}  // namespace stile::acl
