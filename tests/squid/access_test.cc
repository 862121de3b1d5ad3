// From the text of a squid.conf to a decision.
#include <gtest/gtest.h>

#include "acl/decide.h"
#include "tests/squid/memory_files.h"

namespace stile::squid {
namespace {

// "allow", or the reason of the refusal; with the name under which it is logged.
struct Outcome {
  std::string verdict, agent;
};

Outcome ask(const acl::AgentPolicy& policy, std::string_view method, std::string_view target,
            std::string_view source) {
  acl::Query query;
  query.agent = &policy;
  query.scheme = method == "CONNECT" ? acl::Scheme::tunnel : acl::Scheme::http;
  query.authority = acl::split_authority(target);
  query.source = *acl::Address::parse(source);
  query.method = method;
  const acl::Decision decision = acl::decide(query);
  Outcome outcome;
  outcome.verdict = decision.passes() ? "allow" : acl::text(decision.reason);
  if (decision.access_rule != nullptr) outcome.agent = decision.access_rule->agent;
  return outcome;
}

std::shared_ptr<const acl::AgentPolicy> policy_of(const std::string& text) {
  auto conf =
      test::read(text, {{"/list", "# names\n\n  .anthropic.com\napi.github.com # one\r\n"}});
  EXPECT_TRUE(conf) << conf.error().text();
  auto compiled = compile(std::move(*conf), {});
  EXPECT_TRUE(compiled);
  return compiled->policy;
}

TEST(SquidAccess, DecidesAndNamesTheAgent) {
  const auto policy = policy_of(
      "acl Agent_Net src 10.200.0.0/16\n"
      "acl SSL_ports port 443\n"
      "acl Safe_ports port 80 443\n"
      "acl allowed dstdomain \"/list\"\n"
      "acl blocked dstdomain telemetry.anthropic.com\n"
      "http_access deny !Safe_ports\n"
      "http_access deny CONNECT !SSL_ports\n"
      "http_access deny blocked\n"
      "http_access allow Agent_Net allowed\n"
      "http_access deny all\n");
  struct Row {
    const char *method, *target, *source, *verdict, *agent;
  };
  const Row rows[] = {
      {"CONNECT", "api.anthropic.com:443", "10.200.0.2", "allow", "agent-net"},
      {"GET", "api.github.com:80", "10.200.0.2", "allow", "agent-net"},
      {"CONNECT", "x.api.github.com:443", "10.200.0.2", "host-not-allowed", "all"},
      {"CONNECT", "telemetry.anthropic.com:443", "10.200.0.2", "host-denied", "all"},
      {"CONNECT", "api.anthropic.com:80", "10.200.0.2", "port-not-allowed", "all"},
      {"GET", "api.anthropic.com:8080", "10.200.0.2", "port-not-allowed", "all"},
      {"CONNECT", "api.anthropic.com:443", "10.201.0.2", "host-not-allowed", "all"},
      {"CONNECT", "8.8.8.8:443", "10.200.0.2", "ip-literal", ""},
  };
  for (const auto& [method, target, source, verdict, agent] : rows) {
    const Outcome outcome = ask(*policy, method, target, source);
    EXPECT_EQ(outcome.verdict, verdict) << method << " " << target;
    EXPECT_EQ(outcome.agent, agent) << method << " " << target;
  }
}

TEST(SquidAccess, ServesEverySource) {
  const auto policy = policy_of("http_access allow all\n");
  for (const char* source : {"10.0.0.1", "0.0.0.0", "255.255.255.255", "::1", "2001:db8::1"}) {
    EXPECT_EQ(ask(*policy, "CONNECT", "example.com:443", source).verdict, "allow") << source;
  }
}

TEST(SquidAccess, NamesTheRuleAndItsPlace) {
  const auto policy = policy_of("\nhttp_access   allow all # everybody\n");
  acl::Query query;
  query.agent = policy.get();
  query.authority = acl::split_authority("example.com:443");
  query.method = "CONNECT";
  EXPECT_EQ(acl::decide(query).access_rule->text, "http_access allow all (squid.conf:2)");
}

TEST(SquidAccess, StripsTheHeadersThatAreDenied) {
  const auto policy = policy_of("request_header_access X-Api-Key deny all\nvia off\n");
  EXPECT_EQ(policy->strip_request_headers,
            (std::vector<std::string>{"x-api-key", "via", "x-forwarded-for"}));
}

}  // namespace
}  // namespace stile::squid
