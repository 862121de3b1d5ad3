// FrozenTunnel: its bytes are read back exactly, or refused.
#include "proxy/session/frozen_tunnel.h"

#include <gtest/gtest.h>

namespace stile::session {
namespace {

FrozenTunnel example() {
  FrozenTunnel tunnel;
  tunnel.agent = "alpha";
  tunnel.identity = "i-1 10.200.0.2/32";
  tunnel.shown = "alpha";
  tunnel.source = *acl::Address::parse("10.200.0.2");
  tunnel.port = 40312;
  tunnel.conn = 77;
  tunnel.captured = {*acl::Address::parse("198.18.0.9"), 443};
  tunnel.authority = "api.github.com:443";
  tunnel.origin = *acl::Address::parse("2606:50c0::1");
  tunnel.grant = "g-1";
  tunnel.opened_despite = acl::Reason::host_not_allowed;
  tunnel.hello = {acl::HelloFacts::State::read, true, true, false};
  tunnel.begun = SteadyTime{std::chrono::nanoseconds{123456789}};
  tunnel.relay.last_byte = SteadyTime{std::chrono::nanoseconds{223456789}};
  tunnel.relay.up.bytes = 1000;
  tunnel.relay.up.debt = 3;
  tunnel.relay.up.unsent = std::string{"a\0b", 3};
  tunnel.relay.down.bytes = 2000;
  tunnel.relay.down.pipe.bytes = 65536;
  tunnel.relay.down.saw_end = true;
  return tunnel;
}

std::vector<UniqueFd> none(std::size_t count) { return std::vector<UniqueFd>(count); }

TEST(FrozenTunnel, IsReadBackExactly) {
  const std::string bytes = pack(example());
  const auto read = unpack_tunnel(bytes, none(4));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(pack(*read), bytes);
  EXPECT_EQ(read->agent, "alpha");
  EXPECT_EQ(read->origin, *acl::Address::parse("2606:50c0::1"));
  EXPECT_EQ(read->captured->address, *acl::Address::parse("198.18.0.9"));
  EXPECT_EQ(read->opened_despite, acl::Reason::host_not_allowed);
  EXPECT_TRUE(read->hello.names_host);
  EXPECT_EQ(read->begun, example().begun);
  EXPECT_EQ(read->relay.up.unsent, std::string("a\0b", 3));
  EXPECT_EQ(read->relay.up.debt, 3u);
  EXPECT_TRUE(read->relay.down.saw_end && !read->relay.down.sent_end);
}

FrozenTunnel guarded(FrozenGuard guard) {
  FrozenTunnel tunnel = example();
  tunnel.relay.down.pipe.bytes = 0;
  tunnel.guard = std::move(guard);
  return tunnel;
}

TEST(FrozenTunnel, KeepsWhatIsHeldBackUntilTheOriginAnswers) {
  const std::string bytes = pack(guarded({"\x16\x03", "\x16", 0, 0, 0}));
  const auto read = unpack_tunnel(bytes, none(2));
  ASSERT_TRUE(read && read->guard);
  EXPECT_EQ(pack(*read), bytes);
  EXPECT_EQ(read->guard->held, "\x16\x03");
}

TEST(FrozenTunnel, RefusesAGuardThatCannotBe) {
  const std::vector<FrozenGuard> wrong{
      {"\x17", "", 0, 0, 0},  // would have been passed on
      {"\x16", "", 1, 0, 0},  // within a header
      {"\x16", "", 0, 0, 1},  // within a record
      {"", "", 5, 0, 0},      // a header has five bytes
      {"", "", 2, 1, 0},      // its length comes last
      {"", "", 1, 0, 1},      // both within a header and a record
      {"", std::string(65537, 'x'), 0, 0, 0},
  };
  for (const auto& guard : wrong) EXPECT_FALSE(unpack_tunnel(pack(guarded(guard)), none(2)));
  FrozenTunnel spliced = guarded({});
  spliced.relay.up.pipe.bytes = 1;
  EXPECT_FALSE(unpack_tunnel(pack(spliced), none(4)));
}

TEST(HelloGuard, GoesOnInAnotherProcessAfterAnyByte) {
  const std::string early{
      "\x17\x03\x03\x00\x04"
      "data"
      "\x14\x03\x03\x00\x01\x01",
      15};
  const std::string hello{"\x16\x03\x03\x00\x40\x01\x00", 7};
  const std::string stream = early + hello;
  std::string out;
  auto guard = std::make_unique<HelloGuard>();
  for (const char byte : stream) {
    EXPECT_EQ(guard->from_client({&byte, 1}, out), HelloGuard::Step::go_on);
    FrozenGuard frozen = guard->freeze();
    EXPECT_TRUE(frozen.is_possible());
    guard = std::make_unique<HelloGuard>(std::move(frozen));
  }
  EXPECT_EQ(out, early) << "the hello is held";
  EXPECT_EQ(guard->from_origin("HTTP/1.1", out), HelloGuard::Step::go_on);
  EXPECT_TRUE(guard->is_done());
  EXPECT_EQ(out, stream);
}

TEST(FrozenTunnel, ReadsEveryReasonBack) {
  for (std::size_t i = 0; i < acl::reason_count; ++i) {
    FrozenTunnel tunnel = example();
    tunnel.opened_despite = static_cast<acl::Reason>(i);
    const auto read = unpack_tunnel(pack(tunnel), none(4));
    ASSERT_TRUE(read) << acl::text(tunnel.opened_despite);
    EXPECT_EQ(read->opened_despite, tunnel.opened_despite);
  }
}

TEST(FrozenTunnel, RefusesBytesThatAreCutAnywhereOrTooLong) {
  const std::string bytes = pack(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(unpack_tunnel(bytes.substr(0, size), none(4))) << size;
  }
  EXPECT_FALSE(unpack_tunnel(bytes + '\0', none(4)));
}

TEST(FrozenTunnel, RefusesOtherDescriptorsThanTheBytesCallFor) {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 5U, 6U}) {
    EXPECT_FALSE(unpack_tunnel(pack(example()), none(count))) << count;
  }
  FrozenTunnel plain = example();
  plain.relay.down.pipe.bytes = 0;
  EXPECT_TRUE(unpack_tunnel(pack(plain), none(2)));
  EXPECT_FALSE(unpack_tunnel(pack(plain), none(4)));
}

TEST(FrozenTunnel, RefusesAnEndThatWasSentBeforeTheBytes) {
  FrozenTunnel tunnel = example();
  tunnel.relay.up.saw_end = tunnel.relay.up.sent_end = true;  // and yet there are unsent bytes
  EXPECT_FALSE(unpack_tunnel(pack(tunnel), none(4)));
  tunnel.relay.up.unsent.clear();
  EXPECT_TRUE(unpack_tunnel(pack(tunnel), none(4)));
  tunnel.relay.up.saw_end = false;
  EXPECT_FALSE(unpack_tunnel(pack(tunnel), none(4)));
}

TEST(FrozenTunnel, TellsAgentsApartByInstanceAndSources) {
  acl::AgentPolicy agent;
  agent.instance = "one";
  agent.sources.push_back(*acl::Prefix::parse("10.200.0.2"));
  const std::string identity = identity_of(agent);
  acl::AgentPolicy other = agent;
  EXPECT_EQ(identity_of(other), identity);
  other.instance = "two";
  EXPECT_NE(identity_of(other), identity);
  other = agent;
  other.sources.push_back(*acl::Prefix::parse("10.200.0.3"));
  EXPECT_NE(identity_of(other), identity);
}

}  // namespace
}  // namespace stile::session
