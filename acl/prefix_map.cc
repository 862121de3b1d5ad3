// Flattens nested prefixes into disjoint ranges, and searches them.
#include "acl/prefix_map.h"

namespace stile::acl {

PrefixMap::PrefixMap(std::vector<std::pair<Prefix, Value>> entries) {
  const auto first_v6 = std::stable_partition(
      entries.begin(), entries.end(), [](const auto& e) { return e.first.address.is_v4(); });
  v6_ = flatten({first_v6, entries.end()});
  entries.erase(first_v6, entries.end());
  v4_ = flatten(std::move(entries));
}

// Sweeps from left to right; at the same start the wider prefix comes first. `open` holds the
// prefixes around the current point. The innermost one is the longest: it owns the addresses from
// `next` to the start of the following prefix, or to its own end.
std::vector<PrefixMap::Stretch> PrefixMap::flatten(std::vector<std::pair<Prefix, Value>> entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [](const auto& a, const auto& b) { return a.first == b.first; }),
                entries.end());

  struct Open {
    Address last;
    Value value;
  };
  std::vector<Stretch> stretches;
  std::vector<Open> open;
  std::optional<Address> next;  // none: end of the family
  const auto close_innermost = [&] {
    const auto [last, value] = open.back();
    open.pop_back();
    if (!next || *next > last) return;  // longer prefixes fill it to its end
    stretches.push_back({*next, last, value});
    next = last.next();
  };
  for (const auto& [prefix, value] : entries) {
    while (!open.empty() && open.back().last < prefix.first()) close_innermost();
    if (!open.empty() && *next < prefix.first()) {
      stretches.push_back({*next, *prefix.first().previous(), open.back().value});
    }
    next = prefix.first();
    open.push_back({prefix.last(), value});
  }
  while (!open.empty()) close_innermost();
  return stretches;
}

std::optional<PrefixMap::Value> PrefixMap::find(const Address& address) const noexcept {
  const std::vector<Stretch>& stretches = address.is_v4() ? v4_ : v6_;
  auto it =
      std::upper_bound(stretches.begin(), stretches.end(), address,
                       [](const Address& wanted, const Stretch& s) { return wanted < s.first; });
  if (it == stretches.begin()) return std::nullopt;
  --it;
  if (it->last < address) return std::nullopt;
  return it->value;
}

}  // namespace stile::acl
