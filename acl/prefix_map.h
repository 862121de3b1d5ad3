// PrefixMap: longest-prefix match over an immutable set of prefixes, in logarithmic time.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "acl/address.h"

namespace stile::acl {

// The constructor flattens nested prefixes into disjoint, sorted ranges, so that a lookup is one
// binary search. The value is an index; the caller defines its meaning.
class PrefixMap {
 public:
  using Value = std::uint32_t;
  PrefixMap() = default;
  // For a duplicate prefix the first one counts. Callers that treat duplicates as errors check
  // before.
  explicit PrefixMap(std::vector<std::pair<Prefix, Value>> entries);

  [[nodiscard]] std::optional<Value> find(const Address& address) const noexcept;
  [[nodiscard]] bool empty() const noexcept { return v4_.empty() && v6_.empty(); }

 private:
  struct Stretch {
    Address first, last;
    Value value;
  };
  static std::vector<Stretch> flatten(std::vector<std::pair<Prefix, Value>> entries);
  std::vector<Stretch> v4_, v6_;
};

}  // namespace stile::acl
