// Route and address messages, byte by byte.
#include "proxy/server/rtnetlink.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <string>

#include "proxy/server/host_addresses.h"

namespace stile::server {
namespace {

constexpr std::uint32_t sequence = 7;

std::string raw(const void* bytes, std::size_t size) {
  return {static_cast<const char*>(bytes), size};
}

std::string attribute(std::uint16_t type, const std::string& value) {
  const rtattr header{static_cast<std::uint16_t>(sizeof(rtattr) + value.size()), type};
  std::string text = raw(&header, sizeof header) + value;
  text.resize(RTA_ALIGN(text.size()));
  return text;
}

std::string message(std::uint16_t type, const std::string& body, std::uint16_t flags = NLM_F_MULTI,
                    std::uint32_t number = sequence) {
  const nlmsghdr header{static_cast<std::uint32_t>(sizeof(nlmsghdr) + body.size()), type, flags,
                        number, 0};
  std::string text = raw(&header, sizeof header) + body;
  text.resize(NLMSG_ALIGN(text.size()));
  return text;
}

struct Route {
  int family = AF_INET;
  std::string destination;
  unsigned char length = 0;
  unsigned char type = RTN_LOCAL;
  unsigned char table = RT_TABLE_LOCAL;
};

std::string route(const Route& parts, const std::string& more = {}) {
  rtmsg header{};
  header.rtm_family = static_cast<unsigned char>(parts.family);
  header.rtm_dst_len = parts.length;
  header.rtm_table = parts.table;
  header.rtm_type = parts.type;
  std::string body = raw(&header, sizeof header);
  if (!parts.destination.empty()) body += attribute(RTA_DST, parts.destination);
  return message(RTM_NEWROUTE, body + more);
}

std::string address(int family, const std::string& attributes) {
  ifaddrmsg header{};
  header.ifa_family = static_cast<unsigned char>(family);
  return message(RTM_NEWADDR, raw(&header, sizeof header) + attributes);
}

std::string end(std::uint16_t type, std::int32_t result) {
  return message(type, raw(&result, sizeof result));
}

struct Read {
  DumpPart part;
  std::vector<std::string> prefixes;
};

Read read(const std::string& text) {
  Read read;
  std::vector<acl::Prefix> prefixes;
  read.part = read_dump(std::as_bytes(std::span{text}), sequence, prefixes);
  for (const auto& prefix : prefixes) read.prefixes.push_back(prefix.text());
  return read;
}

using Texts = std::vector<std::string>;
const std::string one_v4{"\xc6\x33\x64\x00", 4}, host_v4{"\xc6\x33\x64\x09", 4};
const std::string one_v6{"\x20\x01\x04\x70\x00\x01\0\0\0\0\0\0\0\0\0\0", 16};

TEST(Rtnetlink, ReadsPrefixesOfTheLocalTable) {
  const auto all = read(route({AF_INET, one_v4, 24}) + route({AF_INET6, one_v6, 48}) +
                        route({AF_INET, host_v4, 32, RTN_BROADCAST}) +
                        route({AF_INET6, one_v6, 128, RTN_ANYCAST}) + end(NLMSG_DONE, 0));
  EXPECT_EQ(all.part.state, DumpPart::State::done);
  EXPECT_EQ(all.prefixes,
            (Texts{"198.51.100.0/24", "2001:470:1::/48", "198.51.100.9/32", "2001:470:1::/128"}));
}

TEST(Rtnetlink, PassesOverOtherTablesAndTypes) {
  const std::uint32_t other = 1000, local = RT_TABLE_LOCAL;
  const auto in_table = [](std::uint32_t table) {
    return attribute(RTA_TABLE, raw(&table, sizeof table));
  };
  EXPECT_EQ(read(route({AF_INET, one_v4, 24, RTN_LOCAL, RT_TABLE_MAIN})).prefixes, Texts{});
  EXPECT_EQ(read(route({AF_INET, one_v4, 24, RTN_UNICAST})).prefixes, Texts{});
  EXPECT_EQ(read(route({AF_INET, one_v4, 24, RTN_BLACKHOLE})).prefixes, Texts{});
  // The attribute holds more than the byte in the header.
  EXPECT_EQ(read(route({AF_INET, one_v4, 24}, in_table(other))).prefixes, Texts{});
  EXPECT_EQ(
      read(route({AF_INET, one_v4, 24, RTN_LOCAL, RT_TABLE_COMPAT}, in_table(local))).prefixes,
      Texts{"198.51.100.0/24"});
  EXPECT_EQ(read(route({AF_PACKET, one_v4, 24})).prefixes, Texts{});
}

TEST(Rtnetlink, ARouteWithoutDestinationIsEverything) {
  EXPECT_EQ(read(route({AF_INET, "", 0})).prefixes, Texts{"0.0.0.0/0"});
  EXPECT_EQ(read(route({AF_INET6, "", 0})).prefixes, Texts{"::/0"});
}

TEST(Rtnetlink, HostBitsAreCleared) {
  EXPECT_EQ(read(route({AF_INET, host_v4, 24})).prefixes, Texts{"198.51.100.0/24"});
  EXPECT_EQ(read(route({AF_INET, host_v4, 29})).prefixes, Texts{"198.51.100.8/29"});
}

TEST(Rtnetlink, OfALinkWithTwoEndsOursIsTheLocalOne) {
  EXPECT_EQ(read(address(AF_INET, attribute(IFA_ADDRESS, one_v4) + attribute(IFA_LOCAL, host_v4)))
                .prefixes,
            Texts{"198.51.100.9/32"});
  EXPECT_EQ(read(address(AF_INET6, attribute(IFA_ADDRESS, one_v6))).prefixes,
            Texts{"2001:470:1::/128"});
}

TEST(Rtnetlink, WhatIsMalformedFails) {
  EXPECT_EQ(read(route({AF_INET, one_v4, 33})).part.error, EPROTO);
  EXPECT_EQ(read(route({AF_INET, one_v6, 24})).part.error, EPROTO);
  EXPECT_EQ(read(route({AF_INET, "", 8})).part.error, EPROTO);
  EXPECT_EQ(read(end(NLMSG_ERROR, -EPERM)).part.error, EPERM);
  EXPECT_EQ(read(end(NLMSG_DONE, -ENOMEM)).part.error, ENOMEM);
  // Has no positive counterpart; found by the fuzzer.
  EXPECT_EQ(read(end(NLMSG_DONE, std::numeric_limits<std::int32_t>::min())).part.error, EPROTO);
}

TEST(Rtnetlink, AnInterruptedDumpSaysSo) {
  EXPECT_TRUE(read(message(NLMSG_NOOP, {}, NLM_F_MULTI | NLM_F_DUMP_INTR)).part.is_interrupted);
  EXPECT_FALSE(read(route({AF_INET, one_v4, 24})).part.is_interrupted);
}

TEST(Rtnetlink, AnotherDumpsMessagesArePassedOver) {
  const std::int32_t ok = 0;
  const auto other = read(message(NLMSG_DONE, raw(&ok, sizeof ok), NLM_F_MULTI, sequence + 1));
  EXPECT_EQ(other.part.state, DumpPart::State::more);
}

TEST(Rtnetlink, CutAnywhereItIsReadInBounds) {
  const std::string whole = route({AF_INET, one_v4, 24}) +
                            address(AF_INET6, attribute(IFA_ADDRESS, one_v6)) + end(NLMSG_DONE, 0);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);  // a buffer of its own: address checks see it
    EXPECT_NE(read(cut).part.state, DumpPart::State::done) << size;
    static_cast<void>(concerns_addresses(std::as_bytes(std::span{cut})));
  }
}

TEST(Rtnetlink, OnlyWhatTouchesTheListIsNews) {
  const auto concerns = [](const std::string& text) {
    return concerns_addresses(std::as_bytes(std::span{text}));
  };
  EXPECT_FALSE(concerns(route({AF_INET, one_v4, 24, RTN_UNICAST, RT_TABLE_MAIN})));
  EXPECT_TRUE(concerns(route({AF_INET, one_v4, 24})));
  EXPECT_TRUE(concerns(address(AF_INET6, attribute(IFA_ADDRESS, one_v6))));
  EXPECT_TRUE(concerns("x"));
}

TEST(HostAddresses, OfThisHostAreKnown) {
  auto addresses = HostAddresses::open();
  ASSERT_TRUE(addresses) << addresses.error().message;
  EXPECT_TRUE(addresses->with({})->find(acl::Address::v4(0x7f000001)));
  EXPECT_TRUE(addresses->with({})->find(acl::Address::v4(0x7f123456)))
      << "a prefix, not an address";
  EXPECT_FALSE(addresses->with({})->find(*acl::Address::parse("9.9.9.9")));
  EXPECT_TRUE(
      addresses->with({*acl::Address::parse("9.9.9.9")})->find(*acl::Address::parse("9.9.9.9")));
}

}  // namespace
}  // namespace stile::server
