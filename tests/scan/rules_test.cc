// ScanRules: names, actions and expressions.
#include "scan/rules.h"

#include <gtest/gtest.h>

#include "samples.h"

namespace stile::scan {
namespace {

TEST(ScanRules, FaultsOfExpressions) {
  EXPECT_EQ(pattern_fault(R"(corp\.example)"), "");
  EXPECT_NE(pattern_fault(""), "");
  EXPECT_NE(pattern_fault("(a"), "");
  EXPECT_NE(pattern_fault("a*"), "");  // matches everything
  EXPECT_NE(pattern_fault("((a{100}){100}){100}"), "");
}

TEST(ScanRules, KnowTheBuiltInSets) {
  for (const std::string_view name : {"tokens", "private-keys", "payment", "wallets"}) {
    ASSERT_NE(set_named(name), nullptr) << name;
    EXPECT_EQ(text(*set_named(name)), name);
  }
  EXPECT_EQ(set_named("token"), nullptr);
}

TEST(ScanRules, ActionsSayWhatIsRefused) {
  const auto rules =
      *ScanRules::compile({{"tokens", "", ScanAction::refuse}, {"x", "xyz", ScanAction::log}});
  const Found secret = bit_of(secrets_number), tokens = bit_of(2), x = bit_of(3);
  EXPECT_EQ(rules->refusing(tokens | x, false), tokens);
  EXPECT_EQ(rules->refusing(x, false), 0U);
  EXPECT_EQ(rules->refusing(tokens | x | secret, true), secret);  // a trial
  EXPECT_EQ(rules->names(secret | tokens | x), "secrets,tokens,x");
}

TEST(ScanRules, HaveALimit) {
  std::vector<Scan> scans(most_scans, {"tokens", "", ScanAction::refuse});
  EXPECT_TRUE(ScanRules::compile(scans));
  scans.push_back(scans.front());
  EXPECT_FALSE(ScanRules::compile(scans));
}

// An expression whose automaton does not fit into memory is run in another way.
TEST(ScanRules, ExpressionsRunWithLittleMemory) {
  const auto rules = *ScanRules::compile(
      {{"a", "x[ab]*a[ab]{18}c", ScanAction::refuse}, {"b", "zzz", ScanAction::refuse}});
  const std::string text =
      "x" + samples::random_text(300'000, 1, "ab") + "a" + samples::random_text(18, 2, "ab") + "c";
  EXPECT_EQ(rules->match(text), bit_of(2));
}

}  // namespace
}  // namespace stile::scan
