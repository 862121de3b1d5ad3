// The values of `acl … src` and `acl … dst`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "acl/access_list.h"
#include "base/result.h"
#include "squid/remark.h"

namespace stile::squid {

class AddressValues {
 public:
  // Adds one value: an address, a prefix (with a length or a netmask), a range, `all` or `ipv4`.
  // Returns a remark about it, usually empty.
  [[nodiscard]] Result<Remark> add(std::string_view text);
  [[nodiscard]] acl::AddressSet set() const { return acl::AddressSet{kept_}; }
  [[nodiscard]] const std::vector<acl::AddressSet::Stretch>& stretches() const { return kept_; }
  [[nodiscard]] bool empty() const noexcept { return kept_.empty(); }
  [[nodiscard]] bool is_all() const noexcept { return is_all_; }

 private:
  // A kept range that overlaps it, if any.
  [[nodiscard]] const acl::AddressSet::Stretch* overlapping(
      const acl::AddressSet::Stretch& value) const;

  std::vector<acl::AddressSet::Stretch> kept_;    // disjoint, in the order of the file
  std::map<acl::Address, std::size_t> by_first_;  // first address to index in kept_
  bool is_all_ = false;
};

}  // namespace stile::squid
