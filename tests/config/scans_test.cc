// [[scan]] entries: what is an error, and what each agent gets.
#include "config/scans.h"

#include <gtest/gtest.h>

#include "config/check_config.h"
#include "config/compile.h"
#include "tests/config/temp_folder.h"

namespace stile::config {
namespace {

// What `--check` prints about it; "" if it is fine.
std::string problems_of(const std::string& text) {
  auto loaded = load_text(text, "test.toml");
  if (!loaded) return loaded.error().text();
  auto shared = share(*loaded);
  const auto compiled = compile_all(*loaded, shared);
  return compiled ? "" : compiled.error().text();
}

std::string names(const acl::AgentPolicy& agent) {
  std::string out;
  if (!agent.watch) return "none";
  for (const auto& scan : agent.watch->rules().scans()) {
    out += scan.name + (scan.action == scan::ScanAction::log ? "(log) " : " ");
  }
  return out;
}

TEST(ConfigScans, ErrorsNameTheirPlace) {
  struct Case {
    std::string text, problem;
  };
  const std::vector<Case> cases{
      {"[[scan]]\npattern = 'x'\n", "name is missing"},
      {"[[scan]]\nname = 'a'\n", "pattern is missing"},
      {"[[scan]]\nname = 'a'\npattern = '('\n", "test.toml:3"},
      {"[[scan]]\nname = 'a'\npattern = 'x*'\n", "matches the empty text"},
      {"[[scan]]\nname = 'a'\npattern = ''\n", "it is empty"},
      {"[[scan]]\nname = 'a'\npattern = 'x'\naction = 'deny'\n", "\"refuse\" or \"log\""},
      {"[[scan]]\nname = 'a'\npatern = 'x'\n", "did you mean pattern?"},
      {"[[scan]]\nname = 'tokens'\npattern = 'x'\n", "is a built-in set"},
      {"[[scan]]\nname = 'secrets'\npattern = 'x'\n", "always looked for"},
      {"[[scan]]\nname = 'a'\npattern = 'x'\n[[scan]]\nname = 'a'\npattern = 'y'\n", "is taken"},
      {"[scan]\nname = 'a'\n", "[[scan]], with two brackets"},
      {"[[agent]]\nid = 'a'\nscan = ['token']\n", "did you mean tokens?"},
      {"[egress]\nscan = ['nothing']\n[[agent]]\nid = 'a'\n", "egress.scan"},
      {"[[agent]]\nid = 'a'\nscan = 'tokens'\n", "agent.scan"},
  };
  for (const auto& [text, problem] : cases) {
    EXPECT_NE(problems_of(text).find(problem), std::string::npos) << text << problems_of(text);
  }
}

TEST(ConfigScans, AgentsHaveTheirListOrThatOfEgress) {
  auto loaded = load_text(R"(
[egress]
scan = ["tokens", "mine"]
[[scan]]
name = "mine"
pattern = 'corp\.example'
[[scan]]
name = "payment"
action = "log"
[[agent]]
id = "a"
[[agent]]
id = "b"
[[agent]]
id = "c"
scan = ["payment"]
[[agent]]
id = "d"
scan = []
)",
                          "test.toml");
  ASSERT_TRUE(loaded) << loaded.error().text();
  auto shared = share(*loaded);
  const auto agents = compile_all(*loaded, shared);
  ASSERT_TRUE(agents);
  EXPECT_EQ(names(*(*agents)[0]), "tokens mine ");
  EXPECT_EQ(&(*agents)[0]->watch->rules(), &(*agents)[1]->watch->rules());  // compiled once
  EXPECT_EQ(names(*(*agents)[2]), "payment(log) ");
  EXPECT_EQ(names(*(*agents)[3]), "none");
}

}  // namespace
}  // namespace stile::config
