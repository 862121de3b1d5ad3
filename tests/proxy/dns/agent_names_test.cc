// AgentNames: which address stands for which name, and for how long.
#include "proxy/dns/agent_names.h"

#include <gtest/gtest.h>

#include <set>

namespace stile::dns {
namespace {

using std::chrono::seconds;

const acl::Prefix whole{acl::Address::v4(0xc6120000), 15};
const acl::Prefix small{acl::Address::v4(0xc6120000), 29};  // 198.18.0.2 to .6 are usable
constexpr SteadyTime start{};

std::string address_text(const StandInPtr& stand_in) {
  return stand_in ? stand_in->address.text() : "none";
}

TEST(AgentNames, GivesEachNameItsOwnAddressAndKeepsIt) {
  AgentNames names{whole};
  const auto a = names.stand_in("a.test", start), b = names.stand_in("b.test", start);
  EXPECT_EQ(address_text(a), "198.18.0.2");
  EXPECT_EQ(address_text(b), "198.18.0.3");
  EXPECT_EQ(names.stand_in("a.test", start + seconds{3600}), a);
  EXPECT_EQ(names.find(a->address), a);
  EXPECT_EQ(names.find(b->address)->name, "b.test");
}

TEST(AgentNames, KnowsNoOtherAddress) {
  AgentNames names{whole};
  static_cast<void>(names.stand_in("a.test", start));
  for (const auto* text : {"198.18.0.0", "198.18.0.1", "198.18.0.3", "10.0.0.1", "::1"}) {
    EXPECT_EQ(names.find(*acl::Address::parse(text)), nullptr) << text;
  }
}

TEST(AgentNames, NeverReusesAnAddressWithinItsTtl) {
  AgentNames names{small};
  for (const auto* name : {"a", "b", "c", "d", "e"}) {
    EXPECT_NE(names.stand_in(name, start), nullptr);
  }
  EXPECT_EQ(names.stand_in("f", start + AgentNames::ttl - seconds{1}), nullptr);
  static_cast<void>(names.stand_in("a", start + seconds{30}));  // asked again: its TTL begins again
  EXPECT_EQ(address_text(names.stand_in("f", start + AgentNames::ttl)), "198.18.0.3");
  EXPECT_EQ(names.find(*acl::Address::parse("198.18.0.3"))->name, "f");
  EXPECT_EQ(names.find(*acl::Address::parse("198.18.0.2"))->name, "a");
}

TEST(AgentNames, NeverReusesAnAddressWithAConnection) {
  AgentNames names{small};
  auto open = names.stand_in("a", start);
  for (const auto* name : {"b", "c", "d", "e"}) static_cast<void>(names.stand_in(name, start));
  const SteadyTime later = start + seconds{3600};
  std::set<std::string> given;
  for (const auto* name : {"f", "g", "h", "i"}) {
    given.insert(address_text(names.stand_in(name, later)));
  }
  EXPECT_EQ(given.count("198.18.0.2"), 0U);
  EXPECT_EQ(names.stand_in("j", later), nullptr);
  EXPECT_EQ(names.find(open->address), open);
  open.reset();
  EXPECT_EQ(address_text(names.stand_in("j", later)), "198.18.0.2");
}

TEST(AgentNames, KeepsAnAddressAfterItsTtlWhileThereIsRoom) {
  AgentNames names{whole};
  const auto address = names.stand_in("a.test", start)->address;
  static_cast<void>(names.stand_in("b.test", start + seconds{7200}));
  EXPECT_EQ(names.find(address)->name, "a.test");
}

TEST(AgentNames, HoldsNoMoreThanItsLimit) {
  AgentNames names{whole};
  std::set<acl::Address> given;
  for (std::size_t i = 0; i < AgentNames::max_names; ++i) {
    given.insert(names.stand_in("n" + std::to_string(i), start)->address);
  }
  EXPECT_EQ(given.size(), AgentNames::max_names);
  EXPECT_EQ(names.stand_in("one-more", start), nullptr);
  EXPECT_NE(names.stand_in("n0", start), nullptr);
  const auto later = names.stand_in("one-more", start + AgentNames::ttl);
  EXPECT_EQ(given.count(later->address), 0U);  // in rotation: not the one that became free
  EXPECT_EQ(names.size(), AgentNames::max_names);
}

TEST(AgentNames, RestoresEntriesOfAnEarlierProcess) {
  AgentNames names{whole};
  names.restore("a.test", *acl::Address::parse("198.18.0.9"), start);
  names.restore("b.test", *acl::Address::parse("198.18.0.9"), start);   // taken
  names.restore("a.test", *acl::Address::parse("198.18.0.10"), start);  // has one
  names.restore("c.test", *acl::Address::parse("198.18.0.1"), start);   // reserved
  names.restore("d.test", *acl::Address::parse("10.0.0.1"), start);     // another subnet now
  EXPECT_EQ(names.size(), 1U);
  EXPECT_EQ(address_text(names.stand_in("a.test", start)), "198.18.0.9");
  EXPECT_EQ(address_text(names.stand_in("e.test", start)), "198.18.0.10");
}

TEST(AgentNames, CountsWhatIsRestoredLaterAsOlder) {
  AgentNames names{small};
  const auto restore = [&](const char* name, const char* address) {
    names.restore(name, *acl::Address::parse(address), start);
  };
  restore("e", "198.18.0.6");  // the newest
  restore("d", "198.18.0.5");
  restore("c", "198.18.0.4");
  restore("b", "198.18.0.3");
  restore("a", "198.18.0.2");
  EXPECT_EQ(names.size(), 5U);
  const SteadyTime later = start + AgentNames::ttl;
  EXPECT_EQ(address_text(names.stand_in("f", later)), "198.18.0.2");
  EXPECT_EQ(address_text(names.stand_in("g", later)), "198.18.0.3");
  EXPECT_EQ(names.find_name("e")->address.text(), "198.18.0.6");
}

TEST(AgentNames, HasNoAddressInASubnetWithoutRoom) {
  AgentNames tiny{acl::Prefix{acl::Address::v4(0xc6120000), 31}};
  EXPECT_EQ(tiny.stand_in("a", start), nullptr);
  tiny.restore("a", *acl::Address::parse("198.18.0.0"), start);
  EXPECT_EQ(tiny.size(), 0U);
}

}  // namespace
}  // namespace stile::dns
