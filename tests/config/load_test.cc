// A config with all that it names, from disk.
#include "config/load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "config/embedded.h"
#include "tests/config/temp_folder.h"

namespace stile::config {
namespace {

namespace fs = std::filesystem;

class Load : public testing::Test {
 protected:
  Load() { fs::create_directory(folder_.path("cards")); }

  // Loads a config whose cards are in cards/ and more/.
  Checked<Loaded> load_text(std::string_view text) const {
    const auto head = std::string{"[agents]\ndirectories = [\"cards\", \"more\"]\n"};
    return load(folder_.write("stile.toml", head + std::string{text}));
  }
  std::string problems(std::string_view text) const {
    const auto loaded = load_text(text);
    return loaded ? "" : without(loaded.error().text(), folder_.path() + '/');
  }
  // Of the cards that were refused.
  std::string rejected(const Loaded& loaded) const {
    std::string out;
    for (const auto& card : loaded.cards.rejected) {
      out += '[' + card.id + "] " + card.problems.text();
    }
    return without(out, folder_.path() + '/');
  }
  TempFolder folder_;
};

std::vector<std::string> ids(const std::vector<AgentSettings>& agents) {
  std::vector<std::string> out;
  for (const auto& agent : agents) out.push_back(agent.id);
  return out;
}

TEST_F(Load, SaysThatTheFileCannotBeRead) {
  const auto loaded = load(folder_.path("none.toml"));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(without(loaded.error().text(), folder_.path()),
            "/none.toml: cannot be read: No such file or directory\n");
  EXPECT_FALSE(load_or_default(folder_.path("none.toml")));  // no silent default
}

TEST_F(Load, RefusesAConfigThatOthersCanWrite) {
  const auto loaded = load(folder_.write("open.toml", "", 0666));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(without(loaded.error().text(), folder_.path()),
            "/open.toml: can be written by others (mode 0666); chmod go-w /open.toml\n");
}

TEST_F(Load, ReadsCardsInTheOrderOfDirectoriesAndNames) {
  folder_.write("cards/b.json", R"({"id": "b"})");
  folder_.write("cards/a.json", R"({"id": "z"})");
  folder_.write("more/0.json", R"({"id": "m"})");
  folder_.write("cards/.hidden.json", "not even JSON");
  folder_.write("cards/readme.txt", "not even JSON");
  folder_.write("cards/a.json~", "not even JSON");
  const auto loaded = load_text("[[agent]]\nid = \"first\"\n");
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(ids(loaded->settings.agent), std::vector<std::string>{"first"});
  EXPECT_EQ(ids(loaded->cards.accepted), (std::vector<std::string>{"z", "b", "m"}));
  EXPECT_EQ(rejected(*loaded), "");
}

TEST_F(Load, FollowsTheLinksOfAKubernetesVolume) {
  folder_.write("cards/..2026_11_16/a.json", R"({"id": "a"})");
  fs::create_symlink("..2026_11_16", folder_.path("cards/..data"));
  fs::create_symlink("..data/a.json", folder_.path("cards/a.json"));
  const auto loaded = load_text("");
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(ids(loaded->cards.accepted), std::vector<std::string>{"a"});
  EXPECT_EQ(rejected(*loaded), "");
}

TEST_F(Load, LetsABadCardCostItsOwnAgentOnly) {
  folder_.write("cards/1.json", R"({"id": "one", "source": ["10.0.0.1"]})");
  folder_.write("cards/2.json", R"({"id": "two", "sauce": []})");
  folder_.write("cards/3.json", R"({"id": "one", "source": ["10.0.0.3"]})");
  folder_.write("cards/4.json", R"({"id": "four", "source": ["10.0.0.3", "10.0.0.1"]})");
  folder_.write("cards/5.json", R"({"id": "main"})");
  folder_.write("cards/6.json", R"({"id": "six", "source": ["10.0.0.3"]})");  // 4 took nothing
  folder_.write("cards/7.json", R"({"id": "seven"})", 0666);
  folder_.write("cards/8.json", R"({"id": "eight", "allow_files": ["none.txt"]})");
  folder_.write("cards/9.json", R"({"id": "nine", "private_exceptions": ["127.0.0.0/8"]})");
  folder_.write("cards/x.json", std::string(70'000, ' '));
  const auto loaded = load_text("[[agent]]\nid = \"main\"\n");
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(ids(loaded->cards.accepted), (std::vector<std::string>{"one", "six"}));
  EXPECT_EQ(
      rejected(*loaded),
      "[two] cards/2.json:1:15: sauce: unknown key; did you mean source?\n"
      "[one] cards/3.json:1:2: agent.id: 'one' is taken; the other one is in cards/1.json:1\n"
      "[four] cards/4.json:1:16: agent.source: 10.0.0.1/32 is taken by agent one\n"
      "[main] cards/5.json:1:2: agent.id: 'main' is taken; the other one is in stile.toml:3\n"
      "[] cards/7.json: can be written by others (mode 0666); chmod go-w cards/7.json\n"
      "[eight] cards/8.json:1:17: agent.allow_files: cards/none.txt: cannot be read: No such file "
      "or directory\n"
      "[nine] cards/9.json:1:16: agent.private_exceptions: 127.0.0.0/8 touches 127.0.0.0/8; "
      "loopback, link-local and the netns subnet open only as exact addresses\n"
      "[] cards/x.json: larger than 65536 bytes\n");
}

TEST_F(Load, RefusesTheWholeForADirectoryOfCardsThatOthersCanWrite) {
  ::chmod(folder_.path("cards").c_str(), 0777);
  EXPECT_EQ(problems(""),
            "stile.toml:2:1: agents.directories: cards can be written by others (mode 0777); chmod "
            "go-w cards\n");
}

TEST_F(Load, RefusesTheWholeForAListFileThatStileTomlNames) {
  folder_.write("bad.txt", "good.example\nbad name\n");
  folder_.write("open.txt", "good.example\n", 0666);
  EXPECT_EQ(problems("[egress]\ndeny_files = [\"none.txt\"]\n"
                     "[[agent]]\nid = \"a\"\nallow_files = [\"bad.txt\"]\n"
                     "[[agent]]\nid = \"b\"\nallow_files = [\"bad.txt\", \"open.txt\"]\n"),
            "stile.toml:4:1: egress.deny_files: none.txt: cannot be read: No such file or "
            "directory\n"
            "stile.toml:10:1: agent.allow_files: open.txt: can be written by others (mode 0666); "
            "chmod go-w open.txt\n"
            "bad.txt:2:1: 'bad name': patterns cannot contain whitespace or control characters\n");
}

TEST_F(Load, TellsErrorsOfAllFilesAtOnce) {
  folder_.write("bad.txt", "bad name\n");
  ::chmod(folder_.path("cards").c_str(), 0777);
  EXPECT_EQ(problems("watch = 1\n[egress]\nfoo = 1\ndeny_files = [\"bad.txt\"]\n"),
            "stile.toml:2:1: agents.directories: cards can be written by others (mode 0777); chmod "
            "go-w cards\n"
            "stile.toml:3:9: agents.watch: expected true or false, found an integer\n"
            "stile.toml:5:1: egress.foo: unknown key\n"
            "bad.txt:1:1: 'bad name': patterns cannot contain whitespace or control characters\n");
}

TEST_F(Load, HasADigestThatChangesWithEveryFile) {
  folder_.write("list.txt", "a.example\n");
  folder_.write("cards/a.json", R"({"id": "a"})");
  const std::string text = "[egress]\ndeny_files = [\"list.txt\"]\n";
  const auto digest = [&](std::string_view config) {
    const auto loaded = load_text(config);
    return loaded ? loaded->digest : loaded.error().text();
  };
  const auto first = digest(text);
  EXPECT_EQ(first.size(), 64U);
  EXPECT_EQ(digest(text), first);
  EXPECT_NE(digest(text + "#"), first);
  folder_.write("list.txt", "b.example\n");
  const auto second = digest(text);
  EXPECT_NE(second, first);
  folder_.write("cards/a.json", R"({"id": "b"})");
  EXPECT_NE(digest(text), second);
}

TEST_F(Load, HasADigestThatChangesWithCapabilityFilesIfTheyAreUsed) {
  const std::string about =
      "[[capability]]\nname = 'x:y'\nabout = 'z'\ncannot_prevent = ['w']\n"
      "[[capability.request]]\nhost = 'a.example'\n";
  folder_.write("capabilities/x.toml", about);
  ::setenv("STILE_CAPABILITIES", (folder_.path() + "/capabilities").c_str(), 1);
  const std::string without = "[[agent]]\nid = 'a'\n", with = without + "can = ['x:y']\n";
  const auto digest = [&](std::string_view config) {
    const auto loaded = load_text(config);
    return loaded ? loaded->digest : loaded.error().text();
  };
  const auto first = digest(with), unused = digest(without);
  folder_.write("capabilities/x.toml", about + "# changed\n");
  EXPECT_NE(digest(with), first);
  EXPECT_EQ(digest(without), unused);
  ::unsetenv("STILE_CAPABILITIES");
}

TEST_F(Load, CountsTheLifeOfACardFromItsFile) {
  const auto card = folder_.write("cards/a.json", R"({"id": "a", "ttl_seconds": 60})");
  fs::last_write_time(card, fs::last_write_time(card) - std::chrono::hours{1});
  struct stat status {};
  ASSERT_EQ(::stat(card.c_str(), &status), 0);
  for (int reload = 0; reload < 2; ++reload) {  // the second does not renew it
    const auto loaded = load_text("");
    ASSERT_TRUE(loaded);
    const auto expires = loaded->cards.accepted.at(0).expires.value_or(0);
    EXPECT_EQ(expires / 1'000'000, status.st_mtim.tv_sec + 60);
  }
}

TEST(EmbeddedDefault, ServesThisHostWithAShortAllowlist) {
  const auto settings = embedded_default({true, "/run/user/0", "/root/.local/state"});
  EXPECT_EQ(settings.server.listen.at(0).text(), "127.0.0.1:3128");
  EXPECT_EQ(settings.server.metrics->text(), "127.0.0.1:9128");
  EXPECT_EQ(settings.server.control, "/run/stile/control.sock");
  EXPECT_EQ(settings.server.state_dir, "/var/lib/stile");
  EXPECT_EQ(settings.audit.path, "-");
  ASSERT_EQ(settings.agent.size(), 1U);
  const auto& local = settings.agent.front();
  EXPECT_EQ(local.id, "local");
  EXPECT_EQ(local.source.at(0).text(), "127.0.0.0/8");
  EXPECT_EQ(local.source.at(1).text(), "::1/128");
  std::vector<std::string> allowed;
  for (const auto& [pattern, line] : local.allow) allowed.push_back(pattern.text());
  EXPECT_EQ(allowed, (std::vector<std::string>{".anthropic.com", ".openai.com", "api.github.com"}));
}

TEST(EmbeddedDefault, KeepsAUsersThingsWithTheUser) {
  const auto usual = embedded_default({false, "/run/user/7", "/home/u/.local/state"});
  EXPECT_EQ(usual.server.control, "/run/user/7/stile/control.sock");
  EXPECT_EQ(usual.server.state_dir, "/home/u/.local/state/stile");
  const auto bare = embedded_default({false, "", "/home/u/.local/state"});
  EXPECT_EQ(bare.server.control, "/home/u/.local/state/stile/control.sock");
}

}  // namespace
}  // namespace stile::config
