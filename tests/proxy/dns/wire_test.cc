// Names on the wire: compression that ends, and bounds.
#include "proxy/dns/wire.h"

#include <gtest/gtest.h>

#include "tests/proxy/dns/packet.h"

namespace stile::dns {
namespace {

const Bytes header(header_bytes, 0);

// Reads the name at `at`; nullopt stands for malformed. On success `end` is behind the name.
std::optional<Name> read_at(const Bytes& packet, std::size_t at, std::size_t* end = nullptr) {
  auto name = Name::read(packet, at);
  if (name && end != nullptr) *end = at;
  return name;
}

TEST(DnsName, IsReadThroughPointers) {
  const Bytes packet =
      header + wire("c.Test") + labels("b") + pointer(14) + labels("a") + pointer(20);
  //                   0..11    12..19           20..21        22..23        24..25        26..27
  std::size_t end = 0;
  EXPECT_EQ(read_at(packet, 12, &end), Name::from_text("c.test"));
  EXPECT_EQ(end, 20u);
  EXPECT_EQ(read_at(packet, 20, &end), Name::from_text("b.test"));
  EXPECT_EQ(end, 24u);
  EXPECT_EQ(read_at(packet, 24, &end), Name::from_text("a.b.test"));
  EXPECT_EQ(end, 28u);
}

TEST(DnsName, RefusesPointersThatDoNotGoBack) {
  EXPECT_FALSE(read_at(header + pointer(12), 12));                // to itself
  EXPECT_FALSE(read_at(header + pointer(14) + wire("a"), 12));    // forward
  EXPECT_FALSE(read_at(header + pointer(14) + pointer(12), 12));  // a circle
  EXPECT_FALSE(read_at(header + pointer(14) + pointer(12), 14));
  EXPECT_FALSE(read_at(header + labels("a") + pointer(12), 12));    // a growing circle
  EXPECT_FALSE(read_at(header + labels("a.b") + pointer(14), 12));  // into its own labels
  EXPECT_FALSE(read_at(header + pointer(0), 12));                   // into the header
  EXPECT_FALSE(read_at(header + pointer(11) + Bytes{0}, 12));
  EXPECT_FALSE(read_at(header + pointer(100), 12));  // beyond the end
}

// A packet of 64 KiB could make each of its names go through thousands of them.
TEST(DnsName, FollowsAtMostOnePointerForEachLabelThatAPlainNameCanHave) {
  Bytes packet = header + wire("a");
  std::size_t last = header_bytes;
  for (int count = 1; count <= 128; ++count) {
    const std::size_t here = packet.size();
    packet = packet + pointer(last);
    EXPECT_EQ(read_at(packet, here).has_value(), count <= 127) << count;
    last = here;
  }
}

TEST(DnsName, RefusesWhatGoesBeyondTheEnd) {
  EXPECT_FALSE(read_at(header, 12));
  EXPECT_FALSE(read_at(header, 100));
  EXPECT_FALSE(read_at(header + labels("a"), 12));
  EXPECT_FALSE(read_at(header + Bytes{5, 'a'}, 12));
  EXPECT_FALSE(read_at(header + Bytes{0xc0}, 12));
}

TEST(DnsName, RefusesTheUnusedKindsOfLabel) {
  for (const std::uint8_t kind : Bytes{0x40, 0x41, 0x7f, 0x80, 0xbf}) {
    EXPECT_FALSE(read_at(header + Bytes{kind} + Bytes(200, 0), 12)) << int{kind};
  }
}

TEST(DnsName, HoldsAtMost255Bytes) {
  const std::string label(63, 'a'),
      most = label + '.' + label + '.' + label + '.' + std::string(61, 'a');
  EXPECT_TRUE(Name::from_text(most));
  EXPECT_FALSE(Name::from_text(most + 'a'));
  EXPECT_EQ(read_at(header + wire(most), 12), Name::from_text(most));
  EXPECT_FALSE(read_at(header + wire(most + 'a'), 12));
  const Bytes looped = header + wire(most) + labels("x") + pointer(12);
  EXPECT_FALSE(read_at(looped, 12 + 255));
}

TEST(DnsName, IsWithinItselfAndTheZonesAboveIt) {
  const auto name = Name::from_text("a.bc.test").value_or(Name{});
  for (const std::string_view zone : {"a.bc.test", "bc.test", "TEST", ""}) {
    EXPECT_TRUE(name.is_within(*Name::from_text(zone))) << zone;
  }
  for (const std::string_view zone : {"c.test", "x.a.bc.test", "a.bc", "est"}) {
    EXPECT_FALSE(name.is_within(*Name::from_text(zone))) << zone;
  }
}

}  // namespace
}  // namespace stile::dns
