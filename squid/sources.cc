// Sources: the clients of a squid.conf, grouped by the src acls that contain them.
#include "squid/sources.h"

#include <map>
#include <set>

#include "base/contains.h"

namespace stile::squid {
namespace {

using acl::Address;

// The longest prefix that begins at `first` and does not extend beyond `last`.
acl::Prefix widest_prefix(const Address& first, const Address& last) {
  for (int length = 0; length <= (first.is_v4() ? 32 : 128); ++length) {
    const auto text = first.text() + "/" + std::to_string(length);
    const auto prefix = acl::Prefix::parse(text);  // fails while host bits are set
    if (prefix && prefix->last() <= last) return *prefix;
  }
  return {first, static_cast<std::uint8_t>(first.is_v4() ? 32 : 128)};
}

void add_prefixes(const Address& first, const Address& last, std::vector<acl::Prefix>& out) {
  for (std::optional<Address> at = first; at && *at <= last;) {
    out.push_back(widest_prefix(*at, last));
    at = out.back().last().next();
  }
}

std::set<std::string> used_source_acls(const Conf& conf) {
  std::set<std::string> names;
  for (const AccessLine& line : conf.access) {
    for (const auto& term : line.terms) {
      if (conf.find(term.acl)->type == "src") names.insert(term.acl);
    }
  }
  return names;
}

}  // namespace

bool SourceGroup::is_in(const std::string& acl) const { return contains(acls, acl); }

std::vector<SourceGroup> group_sources(const Conf& conf) {
  const auto used = used_source_acls(conf);
  // The possible starts of a range of addresses with the same acls.
  std::set<Address> begins{Address::v4(0), Address::v6({})};
  for (const std::string& name : used) {
    for (const auto& [first, last] : conf.find(name)->addresses.stretches()) {
      begins.insert(first);
      if (const auto after = last.next()) begins.insert(*after);
    }
  }
  std::map<std::vector<std::string>, std::vector<acl::Prefix>> groups;
  std::array<std::uint8_t, 16> ones;
  ones.fill(0xff);
  for (auto at = begins.begin(); at != begins.end(); ++at) {
    const auto after = std::next(at);
    const bool is_last_of_family = after == begins.end() || after->is_v4() != at->is_v4();
    const Address last = !is_last_of_family ? *after->previous()
                         : at->is_v4()      ? Address::v4(0xffffffff)
                                            : Address::v6(ones);
    std::vector<std::string> in;
    for (const Acl& acl : conf.acls) {
      if (used.contains(acl.name) && acl.addresses.set().contains(*at)) in.push_back(acl.name);
    }
    add_prefixes(*at, last, groups[in]);
  }
  std::vector<SourceGroup> result;
  result.reserve(groups.size());
  for (auto& [acls, prefixes] : groups) result.push_back({acls, std::move(prefixes)});
  return result;
}

}  // namespace stile::squid
