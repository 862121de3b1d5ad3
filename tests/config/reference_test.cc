// docs/configuration.md and the files that come with the package stay in step with the schema.
#include "config/reference.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "config/compile.h"
#include "config/lint.h"
#include "config/schema.h"
#include "tests/config/temp_folder.h"

namespace stile::config {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream{file}.rdbuf();
  return out.str();
}

TEST(Reference, IsWhatTheDocumentSays) {
  EXPECT_TRUE(content(fs::path{STILE_ROOT} / "docs/configuration.md") == reference())
      << "docs/configuration.md is out of step; run: ninja -C build/dev config_reference";
}

TEST(Schema, NamesEveryKeyOnceAndOnlyKnownSections) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  std::set<std::string_view> known;
  for (const auto& section : sections()) known.insert(section.name);
  for (const auto& key : global_keys()) {
    EXPECT_TRUE(seen.emplace(key.section, key.name).second) << key.section << '.' << key.name;
    EXPECT_TRUE(known.contains(key.section)) << key.section;
    EXPECT_FALSE(key.help.empty()) << key.name;
  }
  for (const auto& key : agent_keys()) EXPECT_TRUE(seen.emplace("agent", key.name).second);
}

// The examples are copied first: a checkout may be writable by a group.
class Examples : public testing::TestWithParam<std::string> {};

TEST_P(Examples, LoadWithoutErrorOrWarning) {
  const TempFolder folder;
  const fs::path examples = fs::path{STILE_ROOT} / "config/examples";
  for (const auto& entry : fs::directory_iterator{examples}) {
    folder.write(entry.path().filename().string(), content(entry.path()));
  }
  auto text = content(fs::path{STILE_ROOT} / "config" / GetParam());
  ASSERT_FALSE(text.empty());
  // Cards of this host are no part of the example.
  const auto at = text.find("directories = [\"/etc/stile/agents.d\", \"/run/stile/agents.d\"]");
  if (at == std::string::npos) {
    text += "\n[agents]\ndirectories = []\n";
  } else {
    text.replace(at, text.find('\n', at) - at, "directories = []");
  }
  auto loaded = load(folder.write("example.toml", text));
  ASSERT_TRUE(loaded) << loaded.error().text();
  auto shared = share(*loaded);
  const auto policies = compile_all(*loaded, shared);
  ASSERT_TRUE(policies) << policies.error().text();
  const auto warnings = lint(*loaded, *policies, 0);
  EXPECT_TRUE(warnings.items().empty()) << warnings.text();
}

std::vector<std::string> all_examples() {
  std::vector<std::string> names{"stile.toml"};
  for (const auto& entry : fs::directory_iterator{fs::path{STILE_ROOT} / "config/examples"}) {
    if (entry.path().extension() == ".toml") {
      names.push_back("examples/" + entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Examples, testing::ValuesIn(all_examples()), [](const auto& example) {
  std::string name = example.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

TEST(PackagedConfig, ListensForThisHostAndTheAgentsNetworkAndHasNoAgent) {
  const auto settings = parse_settings(content(fs::path{STILE_ROOT} / "config/stile.toml"), "p");
  ASSERT_TRUE(settings) << settings.error().text();
  ASSERT_EQ(settings->server.listen.size(), 2U);
  EXPECT_EQ(settings->server.listen[0].text(), "127.0.0.1:3128");
  EXPECT_EQ(settings->server.listen[1].text(), "10.200.0.1:3128");
  EXPECT_TRUE(settings->agent.empty());
}

}  // namespace
}  // namespace stile::config
