// From settings to policies: what is merged, and what is shared.
#include "config/compile.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include "acl/decide.h"
#include "tests/config/temp_folder.h"

namespace stile::config {
namespace {

class Compile : public testing::Test {
 protected:
  std::vector<std::shared_ptr<const acl::AgentPolicy>> policies(std::string_view text) {
    auto loaded = load(
        folder_.write("stile.toml", "[agents]\ndirectories = [\"cards\"]\n" + std::string{text}));
    if (!loaded) {
      ADD_FAILURE() << loaded.error().text();
      return {};
    }
    loaded_.emplace(std::move(*loaded));
    shared_.emplace(share(*loaded_));
    auto compiled = compile_all(*loaded_, *shared_);
    if (!compiled) {
      ADD_FAILURE() << compiled.error().text();
      return {};
    }
    return *compiled;
  }
  TempFolder folder_;
  std::optional<Loaded> loaded_;
  std::optional<SharedParts> shared_;
};

std::vector<std::string> patterns(const acl::Rules& rules) {
  std::vector<std::string> out;
  for (const auto& set : rules.sets) {
    for (std::uint32_t i = 0; i < set->size(); ++i) {
      out.push_back(acl::RuleRef{set.get(), i}.pattern());
    }
  }
  return out;
}

using Words = std::vector<std::string>;
using Ports = std::vector<std::uint16_t>;

TEST_F(Compile, ReplacesDefaultsByAnAgentsOwnKeysAndListsAsAWhole) {
  const auto all = policies(R"(
[egress]
mode = "observe"
ports = [443, 8443]
http_ports = [80]
sni = "off"
ech = "allow"
private_exceptions = ["10.100.1.0/24"]
strip_request_headers = ["X-One", "X-Two"]
contact = "all"
[limits]
connections_per_agent = 5
requests_per_second = 6
[[agent]]
id = "plain"
[[agent]]
id = "own"
mode = "enforce"
ports = [1]
http_ports = []
sni = "match"
ech = [".a.example", "~b[0-9]"]
private_exceptions = [{prefix = "10.100.2.0/24", hosts = ["a.example"]}]
strip_request_headers = ["X-Three"]
contact = ""
connections_per_agent = 7
requests_per_second = 0
bytes_up = 9
)");
  ASSERT_EQ(all.size(), 2U);
  const auto& plain = *all[0];
  EXPECT_EQ(plain.mode, acl::Mode::observe);
  EXPECT_EQ(plain.ports, (Ports{443, 8443}));
  EXPECT_EQ(plain.http_ports, Ports{80});
  EXPECT_FALSE(plain.check_sni);
  EXPECT_TRUE(plain.ech.everywhere);
  EXPECT_EQ(plain.private_exceptions.at(0).prefix.text(), "10.100.1.0/24");
  EXPECT_EQ(plain.private_exceptions.at(0).hosts, nullptr);
  EXPECT_EQ(plain.strip_request_headers, (Words{"x-one", "x-two"}));
  EXPECT_EQ(plain.contact, "all");
  EXPECT_EQ(plain.max_connections, 5U);
  EXPECT_EQ(plain.requests_per_second, 6U);
  EXPECT_FALSE(plain.bytes_up);
  const auto& own = *all[1];
  EXPECT_EQ(own.mode, acl::Mode::enforce);
  EXPECT_EQ(own.ports, Ports{1});
  EXPECT_EQ(own.http_ports, Ports{});
  EXPECT_TRUE(own.check_sni);
  EXPECT_EQ(text(own.ech), ".a.example, ~b[0-9]");
  EXPECT_TRUE(own.ech.hosts.regexes);
  ASSERT_EQ(own.private_exceptions.size(), 1U);
  EXPECT_EQ(own.private_exceptions[0].hosts->size(), 1U);
  EXPECT_EQ(own.strip_request_headers, Words{"x-three"});
  EXPECT_EQ(own.contact, "");
  EXPECT_EQ(own.max_connections, 7U);
  EXPECT_EQ(own.requests_per_second, 0U);
  EXPECT_EQ(own.bytes_up, 9U);
}

TEST_F(Compile, AddsGlobalDenyListsAndForbiddenAddressesToEveryAgent) {
  folder_.write("global.txt", "file.example\n");
  folder_.write("own.txt", "own-file.example\n");
  const auto all = policies(R"(
[egress]
deny = ["global.example"]
deny_files = ["global.txt"]
forbid_addresses = ["8.8.8.8"]
[[agent]]
id = "plain"
allow = ["*"]
[[agent]]
id = "own"
deny = ["own.example"]
deny_files = ["own.txt"]
forbid_addresses = ["9.9.9.9"]
)");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(patterns(all[0]->deny), (Words{"global.example", "file.example"}));
  EXPECT_EQ(patterns(all[1]->deny),
            (Words{"own.example", "own-file.example", "global.example", "file.example"}));
  const auto global = *acl::Address::parse("8.8.8.8");
  const auto own = *acl::Address::parse("9.9.9.9");
  EXPECT_TRUE(all[0]->forbid_addresses.find(global));
  EXPECT_FALSE(all[0]->forbid_addresses.find(own));
  EXPECT_TRUE(all[1]->forbid_addresses.find(global));
  EXPECT_TRUE(all[1]->forbid_addresses.find(own));
  // The global lists are the same objects for all.
  EXPECT_EQ(all[0]->deny.sets.at(0), all[1]->deny.sets.at(2));
  EXPECT_EQ(all[0]->deny.sets.at(1), all[1]->deny.sets.at(3));
}

TEST_F(Compile, LetsOfflineWinAnywhere) {
  EXPECT_EQ(effective_mode(acl::Mode::offline, acl::Mode::enforce), acl::Mode::offline);
  EXPECT_EQ(effective_mode(acl::Mode::offline, std::nullopt), acl::Mode::offline);
  EXPECT_EQ(effective_mode(acl::Mode::enforce, acl::Mode::offline), acl::Mode::offline);
  EXPECT_EQ(effective_mode(acl::Mode::observe, acl::Mode::enforce), acl::Mode::enforce);
  EXPECT_EQ(effective_mode(acl::Mode::observe, std::nullopt), acl::Mode::observe);
}

TEST_F(Compile, DecidesWithRulesThatNameTheirFileAndLine) {
  folder_.write("list.txt", "# names\n.example.org\n");
  const auto all = policies(
      "[[agent]]\nid = \"a\"\nallow = [\"example.com\"]\n"
      "allow_files = [\"list.txt\"]\n");
  ASSERT_EQ(all.size(), 1U);
  acl::Query query;
  query.agent = all[0].get();
  query.authority = {"example.com", "443", true};
  EXPECT_EQ(acl::decide(query).rule.describe(),
            "example.com (" + folder_.path("stile.toml") + ":5)");
  query.authority.host = "www.example.org";
  EXPECT_EQ(acl::decide(query).rule.describe(),
            ".example.org (" + folder_.path("list.txt") + ":2)");
  query.authority.host = "example.net";
  EXPECT_EQ(acl::decide(query).reason, acl::Reason::host_not_allowed);
}

TEST_F(Compile, StoresAListOf100000NamesOnceFor1000Agents) {
  std::string names;
  for (int i = 0; i < 100'000; ++i) names += "host-" + std::to_string(i) + ".example.com\n";
  folder_.write("list.txt", names);
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "[[agent]]\nid = \"a" + std::to_string(i) +
            "\"\nallow = [\"~^own\\\\.example$\"]\nallow_files = [\"list.txt\"]\n"
            "deny_files = [\"list.txt\"]\n";
  }
  auto loaded = load(folder_.write("stile.toml", text + "[agents]\ndirectories = []\n"));
  ASSERT_TRUE(loaded) << loaded.error().text();
  auto shared = share(*loaded);
  const auto before = ::mallinfo2().uordblks;
  const auto all = compile_all(*loaded, shared);
  const auto grown = ::mallinfo2().uordblks - before;
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1000U);
  const auto& list = all->front()->allow.sets.at(1);
  EXPECT_EQ(list->size(), 100'000U);
  for (const auto& policy : *all) {
    ASSERT_EQ(policy->allow.sets.at(1), list);
    ASSERT_EQ(policy->deny.sets.at(0), list);
  }
  // A thousand copies would be gigabytes; what is left is each agent's own regex and settings.
  EXPECT_LT(grown, 64U << 20U);
  EXPECT_LT(list->memory_bytes(), 16U << 20U);
}

TEST_F(Compile, CompilesTheRegexesOfTheSameListsOnce) {
  folder_.write("list.txt", "~^a[0-9]+\\.example$\nplain.example\n");
  folder_.write("names.txt", "plain.example\n");
  const auto all = policies(R"(
[[agent]]
id = "a"
allow_files = ["list.txt"]
[[agent]]
id = "b"
allow = ["other.example"]
allow_files = ["list.txt", "names.txt"]
deny_files = ["list.txt"]
[[agent]]
id = "c"
allow_files = ["names.txt"]
)");
  ASSERT_EQ(all.size(), 3U);
  ASSERT_NE(all[0]->allow.regexes, nullptr);
  EXPECT_EQ(all[0]->allow.regexes, all[1]->allow.regexes);
  EXPECT_EQ(all[0]->allow.regexes, all[1]->deny.regexes);
  EXPECT_EQ(all[2]->allow.regexes, nullptr);
}

TEST_F(Compile, MakesOneAgentWithoutTheOthers) {
  folder_.write("list.txt", "a.example\n");
  folder_.write("late.txt", "late.example\n");
  const auto all = policies("[[agent]]\nid = \"a\"\nallow_files = [\"list.txt\"]\n");
  ASSERT_EQ(all.size(), 1U);
  AgentSettings late;
  late.id = "late";
  late.allow_files = {folder_.path("list.txt"), folder_.path("late.txt")};
  const auto policy = compile_agent(late, *shared_);
  ASSERT_TRUE(policy) << policy.error().text();
  EXPECT_EQ((*policy)->allow.sets.at(0), all[0]->allow.sets.at(0));
  EXPECT_EQ(patterns((*policy)->allow), (Words{"a.example", "late.example"}));

  late.allow_files = {folder_.path("none.txt")};
  EXPECT_FALSE(compile_agent(late, *shared_));
}

TEST_F(Compile, GivesAListFileThatWasMendedAnotherChance) {
  folder_.write("cards/a.json", R"({"id": "a", "allow_files": ["late.txt"]})");
  EXPECT_TRUE(policies("").empty());
  ASSERT_EQ(loaded_->cards.rejected.size(), 1U);
  folder_.write("cards/late.txt", "late.example\n");
  AgentSettings agent;
  agent.id = "a";
  agent.allow_files = {folder_.path("cards/late.txt")};
  EXPECT_TRUE(compile_agent(agent, *shared_));
}

TEST_F(Compile, MovesACardWhoseRegexesAreTooLargeToTheRejected) {
  std::string hosts;
  for (int i = 0; i < 2000; ++i) {
    hosts += (i > 0 ? "," : "") + std::string{"\"~x"} + std::to_string(i) + "[a-z]{1,200}\"";
  }
  folder_.write("cards/big.json", R"({"id": "big", "allow": [)" + hosts + "]}");
  folder_.write("cards/good.json", R"({"id": "good"})");
  const auto all = policies("");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]->id, "good");
  ASSERT_EQ(loaded_->cards.rejected.size(), 1U);
  EXPECT_EQ(loaded_->cards.rejected[0].id, "big");
  EXPECT_TRUE(loaded_->cards.rejected[0].problems.has_errors());
  EXPECT_EQ(loaded_->cards.accepted.size(), 1U);
}

}  // namespace
}  // namespace stile::config
