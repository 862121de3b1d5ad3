// The words and status codes that clients, logs and metrics share.
#include "acl/decision.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace stile::acl {
namespace {

TEST(Reason, HasItsPublicTextAndStatus) {
  const struct {
    Reason reason;
    std::string_view text;
    int status;
  } cases[] = {
      {Reason::none, "none", 200},
      {Reason::unknown_agent, "unknown-agent", 403},
      {Reason::agent_expired, "agent-expired", 403},
      {Reason::offline, "offline", 403},
      {Reason::ip_literal, "ip-literal", 403},
      {Reason::bad_request, "bad-request", 400},
      {Reason::port_not_allowed, "port-not-allowed", 403},
      {Reason::host_denied, "host-denied", 403},
      {Reason::host_not_allowed, "host-not-allowed", 403},
      {Reason::rate_limited, "rate-limited", 429},
      {Reason::too_many_connections, "too-many-connections", 429},
      {Reason::budget_exhausted, "budget-exhausted", 429},
      {Reason::dns_failure, "dns-failure", 502},
      {Reason::address_forbidden, "address-forbidden", 403},
      {Reason::origin_unreachable, "origin-unreachable", 502},
      {Reason::origin_timeout, "origin-timeout", 504},
      {Reason::origin_bad_response, "origin-bad-response", 502},
      {Reason::not_tls, "not-tls", 403},
      {Reason::sni_missing, "sni-missing", 403},
      {Reason::sni_mismatch, "sni-mismatch", 403},
      {Reason::ech_refused, "ech-refused", 403},
      {Reason::client_hello_timeout, "client-hello-timeout", 403},
      {Reason::client_tls_failed, "client-tls-failed", 403},
      {Reason::no_application_protocol, "no-application-protocol", 403},
      {Reason::host_mismatch, "host-mismatch", 421},
      {Reason::method_not_allowed, "method-not-allowed", 403},
      {Reason::path_not_allowed, "path-not-allowed", 403},
      {Reason::upgrade_not_allowed, "upgrade-not-allowed", 403},
      {Reason::body_too_large, "body-too-large", 413},
      {Reason::ref_not_allowed, "ref-not-allowed", 403},
      {Reason::credential_refused, "credential-refused", 403},
      {Reason::placeholder_misplaced, "placeholder-misplaced", 403},
      {Reason::secret_found, "secret-found", 403},
      {Reason::origin_certificate, "origin-certificate", 502},
      {Reason::audit_unavailable, "audit-unavailable", 503},
      {Reason::overloaded, "overloaded", 503},
      {Reason::draining, "draining", 503},
      {Reason::header_timeout, "header-timeout", 408},
      {Reason::header_too_large, "header-too-large", 431},
      {Reason::internal_error, "internal-error", 500},
      {Reason::revoked, "revoked", 403},
      {Reason::idle_timeout, "idle-timeout", 403},
  };
  ASSERT_EQ(std::size(cases), reason_count);
  std::set<std::string_view> texts;
  for (const auto& c : cases) {
    EXPECT_EQ(text(c.reason), c.text);
    EXPECT_EQ(status(c.reason), c.status) << c.text;
    EXPECT_TRUE(sentence(c.reason).ends_with('.')) << c.text;
    texts.insert(text(c.reason));
  }
  EXPECT_EQ(texts.size(), reason_count);
}

TEST(Reason, OutsideOfTheListIsAnInternalError) {
  EXPECT_EQ(text(static_cast<Reason>(200)), "internal-error");
  EXPECT_EQ(status(static_cast<Reason>(200)), 500);
}

TEST(Verdict, HasItsPublicText) {
  EXPECT_EQ(text(Verdict::allow), "allow");
  EXPECT_EQ(text(Verdict::deny), "deny");
  EXPECT_EQ(text(Verdict::would_deny), "would-deny");
}

}  // namespace
}  // namespace stile::acl
