// trust: what a command trusts, and the variables that say so.
#include "confine/trust.h"

#include <gtest/gtest.h>

#include <map>

#include "confine/java_store.h"

namespace stile::confine {
namespace {

std::string pem(const std::string& body) {
  return "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n";
}

std::map<std::string, std::string> variables_of(const TrustPlan& plan) {
  std::map<std::string, std::string> result;
  for (const auto& variable : plan.variables) {
    const auto at = variable.find('=');
    result.emplace(variable.substr(0, at), variable.substr(at + 1));
  }
  return result;
}

TEST(ConfineTrust, IsNothingWithoutACa) {
  const auto plan = plan_trust(read_trust("", {}), {}, "http://127.0.0.1:3128");
  EXPECT_TRUE(plan.variables.empty());
  EXPECT_TRUE(plan.files.files.empty());
  EXPECT_TRUE(plan_trust(read_trust("no certificate", {}), {}, "http://h:1").files.files.empty());
}

TEST(ConfineTrust, AddsTheCaToWhatTheHostTrusts) {
  const TrustSources sources{pem("Y2E="), pem("cm9vdA=="), "/etc/ssl/bundle", pem("Y29ycA==")};
  const std::vector<std::string> given{"JAVA_TOOL_OPTIONS=-Xmx1g", "OTHER=1"};
  const auto plan = plan_trust(sources, given, "http://10.200.0.1:3128");
  ASSERT_EQ(plan.files.files.size(), 3U);
  EXPECT_EQ(plan.files.files[0].text, sources.node_extra + sources.ca);
  EXPECT_EQ(plan.files.files[1].text, sources.bundle + sources.ca);
  EXPECT_EQ(plan.files.files[1].over, "/etc/ssl/bundle");
  const auto set = variables_of(plan);
  EXPECT_EQ(set.size(), 10U);
  EXPECT_EQ(set.at("NODE_EXTRA_CA_CERTS"), "/run/stile-ca/ca.pem");
  EXPECT_EQ(set.at("SSL_CERT_FILE"), "/run/stile-ca/bundle.pem");
  const auto& java = set.at("JAVA_TOOL_OPTIONS");
  EXPECT_TRUE(java.starts_with("-Xmx1g -Dhttp.proxyHost=10.200.0.1 -Dhttp.proxyPort=3128 "));
  EXPECT_NE(java.find("trustStore=/run/stile-ca/java.p12"), std::string::npos);
}

// Lengths take one byte below 128, then as many as they need.
TEST(ConfineJavaStore, EncodesEveryLength) {
  for (const std::size_t size : {0U, 1U, 20U, 100U, 127U, 128U, 255U, 256U, 65'535U, 70'000U}) {
    const std::vector<std::string> one{std::string(size, 'x')};
    const auto store = java_trust_store(one);
    ASSERT_EQ(store[0], 0x30);
    const auto first = static_cast<unsigned char>(store[1]);
    std::size_t length = first, head = 2;
    if (first >= 0x80) {
      length = 0;
      for (; head < 2U + (first & 0x7fU); ++head) {
        length = length << 8U | static_cast<unsigned char>(store[head]);
      }
    }
    EXPECT_EQ(length + head, store.size()) << size;
    EXPECT_NE(store.find(one[0]), std::string::npos);
  }
}

}  // namespace
}  // namespace stile::confine
