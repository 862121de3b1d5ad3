// The address ranges that are never dialled: the IANA special-purpose registries row by row, and
// the ranges that Stile adds.
#include <array>

#include "acl/address.h"
#include "acl/prefix_map.h"

namespace stile::acl {
namespace {

struct SpecialRange {
  std::string_view prefix;
  std::string_view name;
};

// Every row counts, "globally reachable" or not: an anycast relay or an AS112 sink is not an
// origin. The most specific row gives the name.
constexpr std::array v4_rows{
    SpecialRange{"0.0.0.0/8", "this network 0.0.0.0/8"},
    SpecialRange{"0.0.0.0/32", "this host 0.0.0.0/32"},
    SpecialRange{"10.0.0.0/8", "private-use 10.0.0.0/8"},
    SpecialRange{"100.64.0.0/10", "shared address space 100.64.0.0/10"},
    SpecialRange{"127.0.0.0/8", "loopback 127.0.0.0/8"},
    SpecialRange{"169.254.0.0/16", "link-local 169.254.0.0/16"},
    SpecialRange{"172.16.0.0/12", "private-use 172.16.0.0/12"},
    SpecialRange{"192.0.0.0/24", "IETF protocol assignments 192.0.0.0/24"},
    SpecialRange{"192.0.0.0/29", "IPv4 service continuity 192.0.0.0/29"},
    SpecialRange{"192.0.0.8/32", "IPv4 dummy address 192.0.0.8/32"},
    SpecialRange{"192.0.0.9/32", "port control protocol anycast 192.0.0.9/32"},
    SpecialRange{"192.0.0.10/32", "TURN anycast 192.0.0.10/32"},
    SpecialRange{"192.0.0.170/32", "NAT64/DNS64 discovery 192.0.0.170/32"},
    SpecialRange{"192.0.0.171/32", "NAT64/DNS64 discovery 192.0.0.171/32"},
    SpecialRange{"192.0.2.0/24", "documentation 192.0.2.0/24"},
    SpecialRange{"192.31.196.0/24", "AS112 192.31.196.0/24"},
    SpecialRange{"192.52.193.0/24", "AMT 192.52.193.0/24"},
    SpecialRange{"192.88.99.0/24", "6to4 relay anycast 192.88.99.0/24"},
    SpecialRange{"192.88.99.2/32", "6a44 relay anycast 192.88.99.2/32"},
    SpecialRange{"192.168.0.0/16", "private-use 192.168.0.0/16"},
    SpecialRange{"192.175.48.0/24", "direct delegation AS112 192.175.48.0/24"},
    SpecialRange{"198.18.0.0/15", "benchmarking 198.18.0.0/15"},
    SpecialRange{"198.51.100.0/24", "documentation 198.51.100.0/24"},
    SpecialRange{"203.0.113.0/24", "documentation 203.0.113.0/24"},
    SpecialRange{"240.0.0.0/4", "reserved 240.0.0.0/4"},
    SpecialRange{"255.255.255.255/32", "limited broadcast 255.255.255.255/32"},
    // Not in the registry:
    SpecialRange{"168.63.129.16/32", "Azure platform 168.63.129.16/32"},
    SpecialRange{"224.0.0.0/4", "multicast 224.0.0.0/4"},
};

constexpr std::array v6_rows{
    SpecialRange{"::1/128", "loopback ::1/128"},
    SpecialRange{"::/128", "unspecified ::/128"},
    SpecialRange{"::ffff:0:0/96", "IPv4-mapped ::ffff:0:0/96"},
    SpecialRange{"64:ff9b::/96", "IPv4-IPv6 translation 64:ff9b::/96"},
    SpecialRange{"64:ff9b:1::/48", "IPv4-IPv6 translation 64:ff9b:1::/48"},
    SpecialRange{"100::/64", "discard-only 100::/64"},
    SpecialRange{"100:0:0:1::/64", "dummy prefix 100:0:0:1::/64"},
    SpecialRange{"2001::/23", "IETF protocol assignments 2001::/23"},
    SpecialRange{"2001::/32", "Teredo 2001::/32"},
    SpecialRange{"2001:1::1/128", "port control protocol anycast 2001:1::1/128"},
    SpecialRange{"2001:1::2/128", "TURN anycast 2001:1::2/128"},
    SpecialRange{"2001:1::3/128", "DNS-SD registration anycast 2001:1::3/128"},
    SpecialRange{"2001:2::/48", "benchmarking 2001:2::/48"},
    SpecialRange{"2001:3::/32", "AMT 2001:3::/32"},
    SpecialRange{"2001:4:112::/48", "AS112 2001:4:112::/48"},
    SpecialRange{"2001:10::/28", "ORCHID 2001:10::/28"},
    SpecialRange{"2001:20::/28", "ORCHIDv2 2001:20::/28"},
    SpecialRange{"2001:30::/28", "drone remote identification 2001:30::/28"},
    SpecialRange{"2001:db8::/32", "documentation 2001:db8::/32"},
    SpecialRange{"2002::/16", "6to4 2002::/16"},
    SpecialRange{"2620:4f:8000::/48", "direct delegation AS112 2620:4f:8000::/48"},
    SpecialRange{"3fff::/20", "documentation 3fff::/20"},
    SpecialRange{"5f00::/16", "segment routing 5f00::/16"},
    SpecialRange{"fc00::/7", "unique-local fc00::/7"},
    SpecialRange{"fe80::/10", "link-local fe80::/10"},
    // Not in the registry. The last three cover everything outside 2000::/3.
    SpecialRange{"::/96", "IPv4-compatible ::/96"},
    SpecialRange{"fec0::/10", "site-local fec0::/10"},
    SpecialRange{"ff00::/8", "multicast ff00::/8"},
    SpecialRange{"::/3", "not global unicast ::/3"},
    SpecialRange{"4000::/2", "not global unicast 4000::/2"},
    SpecialRange{"8000::/1", "not global unicast 8000::/1"},
};

PrefixMap build_map() {
  std::vector<std::pair<Prefix, PrefixMap::Value>> entries;
  entries.reserve(v4_rows.size() + v6_rows.size());
  PrefixMap::Value value = 0;
  for (const SpecialRange& row : v4_rows) entries.emplace_back(*Prefix::parse(row.prefix), value++);
  for (const SpecialRange& row : v6_rows) entries.emplace_back(*Prefix::parse(row.prefix), value++);
  return PrefixMap{std::move(entries)};
}

const PrefixMap& special_ranges() {
  static const PrefixMap map = build_map();
  return map;
}

}  // namespace

bool is_global_unicast(const Address& address) noexcept {
  return !special_ranges().find(address).has_value();
}

std::string_view special_range_name(const Address& address) noexcept {
  const auto row = special_ranges().find(address);
  if (!row) return {};
  return *row < v4_rows.size() ? v4_rows[*row].name : v6_rows[*row - v4_rows.size()].name;
}

}  // namespace stile::acl
