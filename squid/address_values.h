// The values of `acl … src` and `acl … dst`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "acl/access_list.h"
#include "acl/result.h"
#include "squid/remark.h"

namespace stile::squid {

class AddressValues {
 public:
  // Adds one value: an address, a prefix (with a length or a netmask), a range, `all` or `ipv4`.
  // Returns a remark about it, mostly none.
  [[nodiscard]] Result<Remark> add(std::string_view text);
  [[nodiscard]] acl::AddressSet set() const { return acl::AddressSet{kept_}; }
  [[nodiscard]] const std::vector<acl::AddressSet::Stretch>& stretches() const { return kept_; }
  [[nodiscard]] bool empty() const noexcept { return kept_.empty(); }
  [[nodiscard]] bool is_all() const noexcept { return is_all_; }

 private:
  std::vector<acl::AddressSet::Stretch> kept_;
  bool is_all_ = false;
};

}  // namespace stile::squid
