// remedy: what would let a refused request through, and when nothing is suggested.
#include "acl/remedy.h"

#include <gtest/gtest.h>

#include "acl/look_alike.h"
#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

AgentPolicy remedy_policy() {
  AgentPolicy made =
      test::agent({"known.test", "tcp://db.test:5432"}, {".evil.test", "~^bad[0-9]+$"});
  made.look_alikes = LookAlikes::of(made.allow);
  return made;
}

TEST(Remedy, IsAPatternALookAlikeOrADenyRule) {
  const struct {
    Reason reason;
    std::string_view host;
    std::uint16_t port;
    std::string_view pattern, imitated, denied_by;
  } cases[] = {
      {Reason::host_not_allowed, "fresh.test", 443, "fresh.test", "", ""},
      {Reason::port_not_allowed, "known.test", 22, "tcp://known.test:22", "", ""},
      {Reason::host_not_allowed, "knwon.test", 443, "", "known.test", ""},
      {Reason::port_not_allowed, "knwon.test", 8443, "", "known.test", ""},
      // The port is judged first; a deny rule would refuse the host next.
      {Reason::port_not_allowed, "a.evil.test", 8443, "", "", ".evil.test"},
      {Reason::port_not_allowed, "bad7", 8443, "", "", "~^bad[0-9]+$"},
      // Allowed, but without TLS inside: nothing is wrong with the name.
      {Reason::not_tls, "known.test", 443, "tcp://known.test:443", "", ""},
      // Underscores need a rule that names them.
      {Reason::bad_request, "a_b.test", 443, "a_b.test", "", ""},
      {Reason::bad_request, "a_b.test", 8443, "a_b.test:8443", "", ""},
      {Reason::bad_request, "a_b.test", 0, "", "", ""},
      {Reason::bad_request, "a..test", 443, "", "", ""},
      {Reason::bad_request, "known.test", 443, "", "", ""},
      {Reason::sni_mismatch, "fresh.test", 443, "", "", ""},
  };
  const AgentPolicy agent = remedy_policy();
  for (const auto& c : cases) {
    const Remedy remedy = remedy_for({c.reason, Scheme::tunnel, c.host, c.port}, &agent);
    EXPECT_EQ(remedy.pattern, c.pattern) << c.host;
    EXPECT_EQ(remedy.imitated, c.imitated) << c.host;
    EXPECT_EQ(remedy.denied_by, c.denied_by) << c.host;
  }
}

TEST(Remedy, OffersLocalhostOnlyWhereAnExceptionOpensTheLoopback) {
  AgentPolicy agent = remedy_policy();
  const auto pattern_for = [&](std::string_view host) {
    return remedy_for({Reason::host_not_allowed, Scheme::http, host, 80}, &agent).pattern;
  };
  EXPECT_EQ(pattern_for("localhost"), "");
  EXPECT_EQ(pattern_for("LOCALHOST."), "");
  EXPECT_EQ(pattern_for("db.localhost"), "");
  EXPECT_EQ(pattern_for("notlocalhost"), "http://notlocalhost");
  agent.private_exceptions = {{*Prefix::parse("10.0.0.0/8"), nullptr}};
  EXPECT_EQ(pattern_for("localhost"), "");
  agent.private_exceptions = {{*Prefix::parse("127.0.0.1/32"), nullptr}};
  EXPECT_EQ(pattern_for("localhost"), "http://localhost");
  agent.private_exceptions = {{*Prefix::parse("::1/128"), nullptr}};
  EXPECT_EQ(pattern_for("localhost"), "http://localhost");
}

TEST(Remedy, WithoutAPolicyIsThePatternAlone) {
  EXPECT_EQ(
      remedy_for({Reason::host_not_allowed, Scheme::tunnel, "knwon.test", 443}, nullptr).pattern,
      "knwon.test");
}

}  // namespace
}  // namespace stile::acl
