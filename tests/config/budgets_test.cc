// [[agent.budget]] entries: what is an error, and what each agent gets.
#include <gtest/gtest.h>

#include "config/card.h"
#include "config/compile.h"
#include "config/effective.h"
#include "config/load.h"

namespace stile::config {
namespace {

const std::string opened =
    "[[agent]]\nid = 'a'\n[[agent.request]]\nhost = 'api.test'\n[[agent.request]]\nhost = "
    "'port.test:8443'\n[[agent.budget]]\n";

std::string problems_of(const std::string& text) {
  auto loaded = load_text(text, "test.toml");
  if (!loaded) return loaded.error().text();
  auto shared = share(*loaded);
  const auto compiled = compile_all(*loaded, shared);
  return compiled ? "" : compiled.error().text();
}

TEST(ConfigBudgets, ErrorsNameTheirPlace) {
  struct Case {
    std::string text, problem;
  };
  const std::vector<Case> cases{
      {"max_requests = 5\n", "host is missing"},
      {"host = 'api.test'\n", "limits nothing"},
      {"host = 'api.test'\ntokenss = 5\n", "did you mean tokens?"},
      {"host = 'api.test'\ntokens = 0\n", "test.toml:9"},
      {"host = 'api.test'\ntokens = '1M'\n", "agent.budget"},
      {"host = '.api.test'\ntokens = 5\n", "is not one host"},
      {"host = 'api.test:443'\ntokens = 5\n", "without a port"},
      {"host = '*'\ntokens = 5\n", "is not one host"},
      {"host = 'other.test'\ntokens = 5\n", "it is not opened"},
      {"host = 'other.test'\ntokens = 5\n", "test.toml:8"},
      {"host = 'api.test'\ntokens = 5\n[[agent.budget]]\nhost = 'API.test.'\ntokens = 6\n",
       "has two budgets"},
  };
  for (const auto& [text, problem] : cases) {
    const std::string said = problems_of(opened + text);
    EXPECT_NE(said.find(problem), std::string::npos) << text << said;
  }
}

TEST(ConfigBudgets, AreCompiledAndPrinted) {
  auto loaded = load_text(opened +
                              "host = 'API.test'\nmax_requests = 5\nrequests_per_minute = 6\n"
                              "tokens = 7\n[[agent.budget]]\nhost = 'port.test'\ntokens = 9\n",
                          "test.toml");
  ASSERT_TRUE(loaded) << loaded.error().text();
  auto shared = share(*loaded);
  const auto compiled = compile_all(*loaded, shared);
  ASSERT_TRUE(compiled) << compiled.error().text();
  const auto* budget = compiled->front()->budget_for("api.test");
  ASSERT_NE(budget, nullptr);
  EXPECT_EQ(budget->max_requests, 5U);
  EXPECT_EQ(budget->requests_per_minute, 6U);
  EXPECT_EQ(budget->tokens, 7U);
  EXPECT_NE(compiled->front()->budget_for("port.test"), nullptr);
  EXPECT_EQ(compiled->front()->budget_for("x.api.test"), nullptr);
  std::ostringstream out;
  print_effective(*loaded, out);
  EXPECT_NE(out.str().find("budget = [{host = \"api.test\", max_requests = 5, requests_per_minute "
                           "= 6, tokens = 7}, {host = \"port.test\", tokens = 9}]"),
            std::string::npos)
      << out.str();
}

TEST(ConfigBudgets, CardsHaveThemToo) {
  const auto card = parse_card(
      R"({"agent_id":"a","request":[{"host":"api.test"}],"budget":[{"host":"api.test","tokens":7}]})",
      {"card.json", 0, "/cards"});
  ASSERT_TRUE(card) << card.error().text();
  ASSERT_EQ(card->budget.size(), 1U);
  EXPECT_EQ(card->budget[0].tokens, 7U);
}

}  // namespace
}  // namespace stile::config
