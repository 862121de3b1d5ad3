// save_rule: files that are not the CLI's to edit.
#include "cli/save_rule.h"

#include <gtest/gtest.h>

namespace stile::cli {
namespace {

TEST(SaveRule, LeavesAloneWhatItCannotBeSureOf) {
  for (const char* entry :
       {"put-agent", "", "stile.toml:12", "./stile.toml:12", "/run/stile/agents.d/alpha.json:1",
        "/nonexistent/stile.toml:1", "embedded default"}) {
    const auto change = plan_rules(entry, "alpha", {"a.example"});
    ASSERT_FALSE(change) << entry;
    EXPECT_EQ(change.error().code, "cannot-save") << entry;
    EXPECT_FALSE(change.error().advice.empty() && change.error().note.empty()) << entry;
  }
  const auto embedded = plan_rules("embedded default", "local", {"a.example"});
  EXPECT_NE(embedded.error().note.find("stile init"), std::string::npos);
}

}  // namespace
}  // namespace stile::cli
