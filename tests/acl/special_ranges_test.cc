// Both edges of every row of the special-purpose registries.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "acl/address.h"

namespace stile::acl {
namespace {

struct Row {
  std::string_view prefix, name;
};

// Written down here a second time, from the registries and not from the code.
const std::vector<Row> rows{
    // IANA IPv4 Special-Purpose Address Registry
    {"0.0.0.0/8", "this network"},
    {"0.0.0.0/32", "this host"},
    {"10.0.0.0/8", "private-use"},
    {"100.64.0.0/10", "shared address space"},
    {"127.0.0.0/8", "loopback"},
    {"169.254.0.0/16", "link-local"},
    {"172.16.0.0/12", "private-use"},
    {"192.0.0.0/24", "IETF protocol assignments"},
    {"192.0.0.0/29", "IPv4 service continuity"},
    {"192.0.0.8/32", "IPv4 dummy address"},
    {"192.0.0.9/32", "port control protocol anycast"},
    {"192.0.0.10/32", "TURN anycast"},
    {"192.0.0.170/32", "NAT64/DNS64 discovery"},
    {"192.0.0.171/32", "NAT64/DNS64 discovery"},
    {"192.0.2.0/24", "documentation"},
    {"192.31.196.0/24", "AS112"},
    {"192.52.193.0/24", "AMT"},
    {"192.88.99.0/24", "6to4 relay anycast"},
    {"192.88.99.2/32", "6a44 relay anycast"},
    {"192.168.0.0/16", "private-use"},
    {"192.175.48.0/24", "direct delegation AS112"},
    {"198.18.0.0/15", "benchmarking"},
    {"198.51.100.0/24", "documentation"},
    {"203.0.113.0/24", "documentation"},
    {"240.0.0.0/4", "reserved"},
    {"255.255.255.255/32", "limited broadcast"},
    // IANA IPv6 Special-Purpose Address Registry
    {"::1/128", "loopback"},
    {"::/128", "unspecified"},
    {"::ffff:0:0/96", "IPv4-mapped"},
    {"64:ff9b::/96", "IPv4-IPv6 translation"},
    {"64:ff9b:1::/48", "IPv4-IPv6 translation"},
    {"100::/64", "discard-only"},
    {"100:0:0:1::/64", "dummy prefix"},
    {"2001::/23", "IETF protocol assignments"},
    {"2001::/32", "Teredo"},
    {"2001:1::1/128", "port control protocol anycast"},
    {"2001:1::2/128", "TURN anycast"},
    {"2001:1::3/128", "DNS-SD registration anycast"},
    {"2001:2::/48", "benchmarking"},
    {"2001:3::/32", "AMT"},
    {"2001:4:112::/48", "AS112"},
    {"2001:10::/28", "ORCHID"},
    {"2001:20::/28", "ORCHIDv2"},
    {"2001:30::/28", "drone remote identification"},
    {"2001:db8::/32", "documentation"},
    {"2002::/16", "6to4"},
    {"2620:4f:8000::/48", "direct delegation AS112"},
    {"3fff::/20", "documentation"},
    {"5f00::/16", "segment routing"},
    {"fc00::/7", "unique-local"},
    {"fe80::/10", "link-local"},
    // Beyond the registries
    {"168.63.129.16/32", "Azure platform"},
    {"224.0.0.0/4", "multicast"},
    {"::/96", "IPv4-compatible"},
    {"fec0::/10", "site-local"},
    {"ff00::/8", "multicast"},
    {"::/3", "not global unicast"},
    {"4000::/2", "not global unicast"},
    {"8000::/1", "not global unicast"},
};

bool is_in_a_row(const Address& address) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row& row) { return Prefix::parse(row.prefix)->contains(address); });
}

// The longest row around an address.
const Row* row_of(const Address& address) {
  const Row* longest = nullptr;
  for (const Row& row : rows) {
    const auto prefix = Prefix::parse(row.prefix);
    if (!prefix->contains(address)) continue;
    if (longest == nullptr || prefix->length > Prefix::parse(longest->prefix)->length) {
      longest = &row;
    }
  }
  return longest;
}

TEST(SpecialRanges, HoldTheFirstAndTheLastAddressOfEveryRow) {
  for (const Row& row : rows) {
    const auto prefix = Prefix::parse(row.prefix);
    ASSERT_TRUE(prefix) << row.prefix;
    EXPECT_FALSE(is_global_unicast(prefix->first())) << row.prefix;
    EXPECT_FALSE(is_global_unicast(prefix->last())) << row.prefix;
  }
}

TEST(SpecialRanges, EndRightBeforeAndRightBehindEveryRow) {
  int outside = 0;
  for (const Row& row : rows) {
    const auto prefix = Prefix::parse(row.prefix);
    for (const auto& neighbour : {prefix->first().previous(), prefix->last().next()}) {
      if (!neighbour) continue;
      EXPECT_EQ(is_global_unicast(*neighbour), !is_in_a_row(*neighbour)) << neighbour->text();
      outside += is_in_a_row(*neighbour) ? 0 : 1;
    }
  }
  EXPECT_GT(outside, 40);  // the test did look beyond the edges
}

TEST(SpecialRanges, AreNamedByTheLongestRow) {
  for (const Row& row : rows) {
    const auto prefix = Prefix::parse(row.prefix);
    for (const Address& edge : {prefix->first(), prefix->last()}) {
      const Row* longest = row_of(edge);
      const std::string name = std::string{longest->name} + ' ' + std::string{longest->prefix};
      EXPECT_EQ(special_range_name(edge), name) << edge.text();
    }
  }
}

TEST(SpecialRanges, LetGlobalUnicastPass) {
  for (const auto text : {"1.0.0.0",        "8.8.8.8",         "9.255.255.255", "11.0.0.0",
                          "100.63.255.255", "100.128.0.0",     "168.63.129.15", "168.63.129.17",
                          "172.15.255.255", "172.32.0.0",      "192.0.1.0",     "198.17.255.255",
                          "198.20.0.0",     "223.255.255.255", "2000::",        "2001:200::1",
                          "2606:4700::1",   "2620:4f:7fff::",  "2a00:1450::1",  "3ffe::1",
                          "3fff:1000::"}) {
    const auto address = Address::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_TRUE(is_global_unicast(*address)) << text;
    EXPECT_EQ(special_range_name(*address), "") << text;
  }
}

TEST(SpecialRanges, ForbidEveryFormThatEmbedsIpv4WhateverItEmbeds) {
  for (const auto text : {"::8.8.8.8", "::ffff:8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b::8.8.8.8",
                          "64:ff9b:1::8.8.8.8", "2002:808:808::1", "2001::1", "::7f00:1"}) {
    EXPECT_FALSE(is_global_unicast(*Address::parse(text))) << text;
  }
}

}  // namespace
}  // namespace stile::acl
