// watch and reach: which events matter, and which chains of others stand in the way.
#include "netns/watch.h"

#include <gtest/gtest.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>

#include "netns/reach.h"

namespace stile::netns {
namespace {

bool matters(int type, const char* table, std::uint8_t family = NFPROTO_INET) {
  NetlinkMessage event{static_cast<std::uint16_t>((NFNL_SUBSYS_NFTABLES << 8U) | type), 0};
  event.extra<nfgenmsg>().nfgen_family = family;
  event.put(NFTA_TABLE_NAME, table);
  return may_open_fence(*event.header(), NETLINK_NETFILTER);
}

TEST(NetnsWatch, MindsWhateverHappensToOurTable) {
  for (const int type : {NFT_MSG_DELTABLE, NFT_MSG_DELCHAIN, NFT_MSG_DELRULE, NFT_MSG_NEWRULE,
                         NFT_MSG_DELSET, NFT_MSG_DELSETELEM, NFT_MSG_DELOBJ, NFT_MSG_NEWCHAIN}) {
    EXPECT_TRUE(matters(type, "stile")) << type;
  }
}

TEST(NetnsWatch, LeavesOtherTablesAndNewElementsAlone) {
  EXPECT_FALSE(matters(NFT_MSG_DELTABLE, "filter"));
  EXPECT_FALSE(matters(NFT_MSG_DELTABLE, "stile", NFPROTO_IPV4));
  EXPECT_FALSE(matters(NFT_MSG_NEWSETELEM, "stile"));
  EXPECT_FALSE(matters(NFT_MSG_NEWGEN, "stile"));
}

TEST(NetnsWatch, MindsSysctlsAndLostAddresses) {
  const auto route_event = [](std::uint16_t type) {
    NetlinkMessage event{type, 0};
    return may_open_fence(*event.header(), NETLINK_ROUTE);
  };
  EXPECT_TRUE(route_event(RTM_NEWNETCONF));
  EXPECT_TRUE(route_event(RTM_DELADDR));
  EXPECT_FALSE(route_event(RTM_NEWADDR));
}

TEST(NetnsReach, NamesBaseChainsOfOthersThatDropByDefault) {
  const auto* listing =
      "table inet stile {\n\tchain arriving {\n"
      "\t\ttype filter hook prerouting priority raw; policy drop;\n\t}\n}\n"
      "table inet filter {\n\tchain input {\n"
      "\t\ttype filter hook input priority filter; policy drop;\n\t}\n"
      "\tchain forward {\n\t\ttype filter hook forward priority filter; policy drop;\n\t}\n"
      "\tchain helper {\n\t}\n"
      "\tchain output {\n\t\ttype filter hook output priority filter; policy accept;\n\t}\n}\n"
      "table ip6 filter {\n\tchain INPUT {\n"
      "\t\ttype filter hook input priority filter; policy drop;\n\t}\n}\n"
      "table ip raw {\n\tchain PREROUTING {\n"
      "\t\ttype filter hook prerouting priority raw; policy drop;\n\t}\n}\n";
  EXPECT_EQ(dropping_chains(listing),
            (std::vector<std::string>{"inet filter input", "ip raw PREROUTING"}));
  EXPECT_TRUE(dropping_chains("").empty());
}

}  // namespace
}  // namespace stile::netns
