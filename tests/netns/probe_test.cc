// probe and packet: frames that the kernel takes, tokens that are found again, and fair judgement.
#include "netns/probe.h"

#include <gtest/gtest.h>

#include <set>

#include "netns/observer.h"

namespace stile::netns {
namespace {

using P = Expected;

std::vector<Probe> probes(bool is_captured = false) {
  Agent alpha{"alpha", *acl::Address::parse("10.200.0.2"), "i"};
  alpha.is_captured = is_captured;
  config::NetnsSettings settings;
  settings.capture = true;
  return make_probes(
      settings, {alpha, *acl::Address::parse("10.200.0.3"), acl::Address::parse("192.0.2.9"), 4567},
      77);
}

// Right if the sum over everything, checksum included, comes out as zero.
bool has_good_ip_checksum(const std::string& frame) {
  return checksum(std::string_view{frame}.substr(14, 20)) == 0;
}

TEST(NetnsPacket, ChecksumIsThatOfRfc1071) {
  // The example of its section 3: the sum is ddf2.
  const std::string bytes{"\x00\x01\xf2\x03\xf4\xf5\xf6\xf7", 8};
  EXPECT_EQ(checksum(bytes), static_cast<std::uint16_t>(~0xddf2));
  EXPECT_EQ(checksum(std::string_view{"\xff", 1}), static_cast<std::uint16_t>(~0xff00));
}

TEST(NetnsPacket, EveryProbeIsAWholeFrameWithItsOwnToken) {
  const auto all = probes();
  ASSERT_GT(all.size(), 20U);
  std::set<std::string> names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& frame = all[i].frame;
    EXPECT_TRUE(names.insert(all[i].name).second) << all[i].name;
    EXPECT_GT(frame.size(), 34U);
    EXPECT_EQ(find_token(frame, 77), i) << all[i].name;
    EXPECT_FALSE(find_token(frame, 78));
    if (frame.substr(12, 2) == std::string{"\x08\x00", 2}) {
      EXPECT_TRUE(has_good_ip_checksum(frame)) << all[i].name;
    }
  }
}

TEST(NetnsPacket, OnlyOneProbeIsExpectedToPass) {
  int passing = 0;
  for (const auto& probe : probes()) passing += probe.expected == P::passes ? 1 : 0;
  EXPECT_EQ(passing, 1);
}

TEST(NetnsPacket, OnlyNamesAndTheirAddressesAreCapturedAndOnlyForAgentsThatWantIt) {
  std::set<std::string> captured;
  for (const auto& probe : probes(true)) {
    if (probe.expected == P::captured) captured.insert(probe.name);
  }
  EXPECT_EQ(captured, (std::set<std::string>{"dns-gateway-udp-53", "dns-gateway-tcp-53",
                                             "capture-tcp-443", "capture-tcp-open-port"}));
  for (const auto& probe : probes(false)) EXPECT_NE(probe.expected, P::captured) << probe.name;
}

TEST(NetnsProbe, TellsARefusalFromAnAnswer) {
  const std::string ethernet = std::string(12, 'm') + std::string{"\x08\x00", 2};
  std::string ip = "\x45" + std::string(19, '\0');
  ip[9] = 1;
  EXPECT_TRUE(is_unreachable_error(ethernet + ip + "\x03"));
  EXPECT_FALSE(is_unreachable_error(ethernet + ip + std::string(1, '\0')));  // an echo reply
  EXPECT_FALSE(is_unreachable_error(ethernet + ip));
  EXPECT_FALSE(is_unreachable_error(ethernet.substr(0, 12) + "\x86\xdd" + ip + "\x03"));
  ip[9] = 17;
  EXPECT_FALSE(is_unreachable_error(ethernet + ip + "\x03"));
  for (std::size_t size = 0; size < ethernet.size() + ip.size(); ++size) {
    EXPECT_FALSE(is_unreachable_error((ethernet + ip).substr(0, size))) << size;
  }
}

TEST(NetnsProbe, FindsATokenOnlyWhereAllOfItIs) {
  const auto token = token_of(7, 9);
  const std::string bytes{token.data(), token.size()};
  EXPECT_EQ(find_token("xx" + bytes + "yy", 7), 9U);
  EXPECT_FALSE(find_token(bytes.substr(0, 15), 7));
  EXPECT_FALSE(find_token("", 7));
}

TEST(NetnsProbe, JudgesByEvidenceNeverBySilence) {
  Facts nothing;
  Facts unsent;
  unsent.not_sent = "no device";
  Facts arrived;
  arrived.has_arrived = true;
  Facts counted = arrived;
  counted.is_refused = true;
  Facts reached = arrived;
  reached.has_reached = true;
  Facts reached_and_counted = reached;  // the counter may have been somebody else's packet
  reached_and_counted.is_refused = true;
  Facts left = counted;
  left.left_through = "up0";
  Facts answered = arrived;
  answered.was_answered = true;
  Facts passed = arrived;
  passed.is_passed = true;
  Facts passed_and_reached = passed;
  passed_and_reached.has_reached = true;
  const struct {
    P expected;
    Facts facts;
    bool is_good;
    const char* got;
  } cases[] = {
      {P::refused, counted, true, "refused"},
      {P::refused, nothing, false, "did not arrive"},
      {P::refused, unsent, false, "not sent: no device"},
      {P::refused, arrived, false, "not counted"},
      {P::refused, reached, false, "reached the host"},
      {P::refused, reached_and_counted, false, "reached the host"},
      {P::refused, left, false, "left through up0"},
      {P::refused, answered, false, "was answered"},
      {P::refused, passed, false, "not counted"},
      {P::ignored, arrived, true, "ignored"},
      {P::ignored, counted, true, "refused"},
      {P::ignored, nothing, false, "did not arrive"},
      {P::ignored, answered, false, "was answered"},
      {P::ignored, reached, false, "reached the host"},
      {P::passes, passed_and_reached, true, "passes"},
      {P::passes, passed, false, "dropped by another rule of the host"},
      {P::passes, counted, false, "refused"},
      {P::passes, reached, false, "reached the host"},
      {P::passes, nothing, false, "did not arrive"},
      {P::passes, left, false, "left through up0"},
      {P::captured, passed_and_reached, true, "captured"},
      {P::captured, counted, true, "refused: the daemon does not capture"},
      {P::captured, reached, false, "reached the host"},
      {P::captured, passed, false, "dropped by another rule of the host"},
      {P::captured, answered, false, "was answered"},
      {P::captured, nothing, false, "did not arrive"},
  };
  for (const auto& [expected, facts, is_good, got] : cases) {
    const auto verdict = judge(expected, facts);
    EXPECT_EQ(verdict.is_good, is_good) << text(expected) << ": " << got;
    EXPECT_EQ(verdict.got, got);
  }
}

}  // namespace
}  // namespace stile::netns
