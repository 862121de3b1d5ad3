// Random damage to good texts: whatever comes of it is read or refused, and never a crash.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "config/card.h"
#include "config/compile.h"
#include "config/list_file.h"
#include "tests/config/temp_folder.h"
#include "tests/config/written_settings.h"

namespace stile::config {
namespace {

namespace fs = std::filesystem;

class Mutator {
 public:
  std::string damage(std::string text) {
    for (std::size_t count = 1 + pick(4); count > 0 && !text.empty(); --count) damage_once(text);
    return text;
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }

  void damage_once(std::string& text) {
    constexpr std::string_view special = "\"'[]{}=,.#\n\\:-/0129eTZ \t\r\xc3\x80";
    const std::size_t at = pick(text.size());
    const std::size_t length = 1 + pick(std::min<std::size_t>(text.size() - at, 20));
    switch (pick(6)) {
      case 0:
        text[at] = static_cast<char>(pick(256));
        break;
      case 1:
        text[at] = special[pick(special.size())];
        break;
      case 2:
        text.insert(at, 1, special[pick(special.size())]);
        break;
      case 3:
        text.erase(at, length);
        break;
      case 4:
        text.insert(pick(text.size()), text.substr(at, length));
        break;
      default:
        text.insert(at, "99999999999999999999");
        break;
    }
  }

  std::mt19937 random_{42};  // the same damage in every run
};

std::vector<std::string> good_configs() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator{fs::path{STILE_ROOT} / "config/examples"}) {
    if (entry.path().extension() != ".toml") continue;
    std::ostringstream text;
    text << std::ifstream{entry.path()}.rdbuf();
    out.push_back(text.str());
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Mutation, OfAConfigIsRefusedOrReadsBackAsItWasWritten) {
  Mutator mutator;
  std::size_t accepted = 0;
  for (const auto& good : good_configs()) {
    ASSERT_TRUE(parse_settings(good, "/m/stile.toml"));
    for (int i = 0; i < 300; ++i) {
      const auto text = mutator.damage(good);
      const auto settings = parse_settings(text, "/m/stile.toml");
      if (!settings) {
        EXPECT_TRUE(settings.error().has_errors()) << text;
        continue;
      }
      ++accepted;
      const auto written = written_settings(*settings);
      const auto again = parse_settings(written, "/m/stile.toml");
      ASSERT_TRUE(again) << again.error().text() << text;
      EXPECT_EQ(written_settings(*again), written) << text;
    }
  }
  EXPECT_GT(accepted, 50U);  // or the test would only ever see refusals
}

TEST(Mutation, OfACardIsRefusedOrAnAgentWithAnId) {
  const std::string good = R"({"agent_id": "alpha-001", "source": ["10.200.0.2", "fd00::/64"],
    "allowed_hosts": ["api.anthropic.com", "~^x[0-9]+\\.example$"], "denied_hosts": [],
    "ttl_seconds": 3600, "created": "2026-11-16T09:00:00Z", "bytes_up": "50MiB", "ports": [443]})";
  Mutator mutator;
  std::size_t accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto text = mutator.damage(good);
    const auto agent = parse_card(text, {"m", 0, std::nullopt});
    EXPECT_TRUE(agent ? !agent->id.empty() : agent.error().has_errors()) << text;
    accepted += agent ? 1U : 0U;
    SharedParts shared{{}, {}, {}, ListFileCache{0}, {}, CapabilityFiles{0}, {}, {}, {}};
    if (agent) {
      EXPECT_TRUE(compile_agent(*agent, shared)) << text;
    }
  }
  EXPECT_GT(accepted, 50U);
}

TEST(Mutation, OfAListIsRefusedOrASetOfRules) {
  const std::string good =
      "# names\nexample.com\n.example.org # below\n*.example.net\r\n\nhttp://a.example:8080\n"
      "tcp://b.example:22\n~^api-[0-9]+\\.example$\nc.example:8443\n*\n";
  Mutator mutator;
  for (int i = 0; i < 5000; ++i) {
    const auto text = mutator.damage(good);
    const auto rules = parse_list(text, "m");
    EXPECT_TRUE(rules ? (*rules)->size() <= 20 : rules.error().has_errors()) << text;
  }
}

}  // namespace
}  // namespace stile::config
