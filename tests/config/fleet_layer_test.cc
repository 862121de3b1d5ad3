// FleetLayer: a fleet's policy below the files of a host.
#include "config/fleet_layer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "config/fleet_check.h"
#include "config/fleet_values.h"
#include "config/load.h"
#include "config/secrets.h"
#include "tests/config/temp_folder.h"

namespace stile::config {
namespace {

FleetPolicy policy(std::string name, std::string body) {
  return {std::move(name), 1, 1'000'000'000, std::move(body)};
}

// The file, with the policies below it.
Checked<Loaded> load_with(const std::string& toml, std::vector<FleetPolicy> policies,
                          std::map<std::string, FleetSlice> slices = {}) {
  TempFolder folder;
  const auto path = folder.write("stile.toml", toml + "\n[agents]\ndirectories = []\n");
  return load(path, {std::move(policies), std::move(slices)});
}

TEST(FleetLayer, KeysOfTheFileStay) {
  const auto loaded = load_with("[egress]\nports = [443]\n",
                                {policy("a", R"({"egress":{"http_ports":[80],"ports":[8443]}})"),
                                 policy("b", R"({"egress":{"http_ports":[81],"contact":"b"}})")});
  ASSERT_TRUE(loaded) << loaded.error().text();
  const auto& egress = loaded->settings.egress;
  EXPECT_EQ(egress.ports, std::vector<std::uint16_t>{443});
  EXPECT_EQ(egress.http_ports, std::vector<std::uint16_t>{80});  // the first policy by name
  EXPECT_EQ(egress.contact, "b");
}

TEST(FleetLayer, WhatIsForbiddenAddsUp) {
  const auto loaded =
      load_with("[egress]\ndeny = [\"a.test\"]\nforbid_addresses = [\"1.2.3.0/24\"]\n",
                {policy("a", R"({"egress":{"deny":["b.test"],"forbid_addresses":["5.6.7.8"]}})"),
                 policy("b", R"({"egress":{"deny":["c.test"]}})")});
  ASSERT_TRUE(loaded) << loaded.error().text();
  const auto& egress = loaded->settings.egress;
  EXPECT_EQ(egress.deny.size(), 1U);
  ASSERT_EQ(egress.fleet_deny.size(), 2U);
  EXPECT_EQ(egress.fleet_deny[0].file, "fleet:a");
  EXPECT_EQ(egress.forbid_addresses.size(), 2U);
}

struct ModeCase {
  const char* file;
  const char* fleet;
  acl::Mode mode;
};

TEST(FleetLayer, OfflineAnywhereWins) {
  const std::vector<ModeCase> cases{
      {"", "observe", acl::Mode::observe},
      {"[egress]\nmode = \"enforce\"\n", "observe", acl::Mode::enforce},
      {"[egress]\nmode = \"observe\"\n", "offline", acl::Mode::offline},
      {"[egress]\nmode = \"offline\"\n", "enforce", acl::Mode::offline},
  };
  for (const auto& one : cases) {
    const auto loaded = load_with(
        one.file, {policy("a", R"({"egress":{"mode":")" + std::string{one.fleet} + "\"}}")});
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->settings.egress.mode, one.mode) << one.file << one.fleet;
  }
  const auto both = load_with("", {policy("a", R"({"egress":{"mode":"offline"}})"),
                                   policy("b", R"({"egress":{"mode":"observe"}})")});
  EXPECT_EQ(both->settings.egress.mode, acl::Mode::offline);
}

TEST(FleetLayer, AgentsOfTheFileKeepTheirIdAndSources) {
  const auto loaded = load_with(
      "[[agent]]\nid = \"alpha\"\nsource = [\"10.0.0.1\"]\n",
      {policy("a", R"({"agent":[{"id":"alpha","source":["10.0.0.2"]},)"
                   R"({"id":"beta","source":["10.0.0.1"]},{"id":"gamma","source":["10.0.0.3"]}]})"),
       policy("b", R"({"agent":[{"id":"gamma","source":["10.0.0.4"]}]})")});
  ASSERT_TRUE(loaded) << loaded.error().text();
  ASSERT_EQ(loaded->cards.accepted.size(), 1U);
  EXPECT_EQ(loaded->cards.accepted[0].id, "gamma");
  EXPECT_EQ(loaded->cards.accepted[0].place.file, "fleet:a");
  EXPECT_EQ(loaded->cards.rejected.size(), 3U);
}

TEST(FleetLayer, ScansAddToThoseOfTheFile) {
  const auto loaded = load_with(
      "[[scan]]\nname = \"own\"\npattern = 'a'\n",
      {policy("a", R"({"scan":[{"name":"own","pattern":"b"},{"name":"theirs","pattern":"c"}]})")});
  ASSERT_TRUE(loaded) << loaded.error().text();
  ASSERT_EQ(loaded->settings.scan.size(), 2U);
  EXPECT_EQ(loaded->settings.scan[0].pattern, "a");
  EXPECT_EQ(loaded->settings.scan[1].name, "theirs");
}

TEST(FleetLayer, AgentsExpireWithTheirPolicy) {
  const auto loaded = load_with(
      "", {policy("a",
                  R"({"agent":[{"id":"alpha"},{"expires":"1970-01-01T00:01:00Z","id":"beta"}]})")});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->cards.accepted.at(0).expires, 1'000'000'000);
  EXPECT_EQ(loaded->cards.accepted.at(1).expires, 60'000'000);
}

TEST(FleetLayer, ABudgetIsThisHostsShareOfIt) {
  const std::string body =
      R"({"agent":[{"bytes_up":"1MiB","id":"alpha"},{"bytes_up":"1MiB","id":"beta"},{"id":"gamma"}]})";
  const auto loaded = load_with("", {policy("a", body)}, {{"alpha", {1000, 0}}, {"gamma", {5, 0}}});
  ASSERT_TRUE(loaded);
  const auto& agents = loaded->cards.accepted;
  EXPECT_EQ(agents.at(0).bytes_up, 1U << 20U);
  EXPECT_EQ(agents.at(0).bytes_up_slice, 1000U);
  EXPECT_EQ(agents.at(1).bytes_up_slice, 0U);  // no share yet
  EXPECT_FALSE(agents.at(2).bytes_up || agents.at(2).bytes_up_slice);
}

TEST(FleetLayer, TheLastShareOfABudgetIsItsEnd) {
  const std::string body = R"({"agent":[{"bytes_up":5000,"id":"alpha"}]})";
  const auto last = load_with("", {policy("a", body)}, {{"alpha", {1000, 5000}}});
  EXPECT_EQ(last->cards.accepted.at(0).bytes_up, 1000U);
  EXPECT_FALSE(last->cards.accepted.at(0).bytes_up_slice);
  const auto grown = load_with("", {policy("a", body)}, {{"alpha", {1000, 4000}}});
  EXPECT_EQ(grown->cards.accepted.at(0).bytes_up, 5000U);
  EXPECT_EQ(grown->cards.accepted.at(0).bytes_up_slice, 1000U);
}

TEST(FleetLayer, SecretsOfTheFileStay) {
  TempFolder folder;
  const auto value = folder.write("value", "s3cret-value");
  const std::string entry = R"("header":"Authorization","hosts":["a.test"],"name":"api")";
  const auto loaded = load_with("[[secret]]\nname = \"api\"\nfile = \"" + value +
                                    "\"\nhosts = [\"b.test\"]\nheader = \"X-Key\"\n",
                                {policy("a", R"({"secret":[{"file":"/x",)" + entry + "}]}")});
  ASSERT_TRUE(loaded) << loaded.error().text();
  ASSERT_EQ(loaded->settings.secret.size(), 1U);
  EXPECT_EQ(loaded->settings.secret[0].header, "X-Key");
}

// What a host with one secret of its own says of a fleet's secret; "" if it is fine.
std::string problems_of_secret(const TempFolder& folder, const std::string& of_fleet) {
  const std::string own = "[[secret]]\nname = \"own\"\nfile = \"" + folder.path("own") +
                          "\"\nhosts = [\"*.b.test\", \"c.test:8443\"]\nheader = \"X-Key\"\n" +
                          "[fleet]\npassword_file = \"" + folder.path("password") + "\"\n";
  const auto loaded = load_with(
      own, {policy("a", R"({"secret":[{"header":"X","name":"theirs",)" + of_fleet + "}]}")});
  if (!loaded) return loaded.error().text();
  Diagnostics problems;
  const Secrets secrets{loaded->settings.secret};
  secrets.read_values(::geteuid(), 1, problems);
  return problems.text();
}

TEST(FleetLayer, ASecretOfTheHostGoesNowhereElse) {
  TempFolder folder;
  for (const auto& [name, value] :
       {std::pair{"own", "s3cret-value"}, std::pair{"password", "p4ss-0123"},
        std::pair{"copy", "s3cret-value"}, std::pair{"other", "v4lue-0123"}}) {
    folder.write(name, value, 0600);
  }
  std::filesystem::create_symlink(folder.path("own"), folder.path("link"));
  std::filesystem::create_hard_link(folder.path("password"), folder.path("hard"));
  const auto said = [&](const char* name, const std::string& rest) {
    return problems_of_secret(folder, R"("file":")" + folder.path(name) + "\"," + rest);
  };
  const std::string elsewhere = R"("hosts":["evil.test"])";
  for (const char* name : {"own", "copy", "link"}) {
    EXPECT_NE(said(name, elsewhere).find("this host's secret 'own'"), std::string::npos) << name;
    EXPECT_NE(said(name, R"("hosts":["x.b.test","evil.test"])"), "") << name;
    EXPECT_NE(said(name, R"("hosts":["c.test"])"), "") << "the host's own names one port";
    EXPECT_EQ(said(name, R"("hosts":["x.b.test","c.test:8443"])"), "") << name;
  }
  for (const char* name : {"password", "hard"}) {
    EXPECT_NE(said(name, elsewhere).find("own key to the fleet"), std::string::npos) << name;
  }
  EXPECT_EQ(said("other", elsewhere), "");
}

TEST(FleetLayer, AFileThatBecomesTheHostsSecretIsNotTaken) {
  TempFolder folder;
  for (const auto& [name, value] :
       {std::pair{"own", "s3cret-value"}, std::pair{"theirs", "v4lue-0123"}}) {
    folder.write(name, value, 0600);
  }
  SecretSettings own, theirs;
  own.name = "own";
  own.file = folder.path("own");
  own.hosts.push_back({*acl::Pattern::parse("b.test"), 0});
  theirs.name = "theirs";
  theirs.file = folder.path("theirs");
  theirs.hosts.push_back({*acl::Pattern::parse("evil.test"), 0});
  theirs.is_of_fleet = true;
  Diagnostics problems;
  const Secrets secrets{{own, theirs}};
  secrets.read_values(::geteuid(), 1, problems);
  ASSERT_FALSE(problems.has_errors()) << problems.text();
  folder.write("theirs", "s3cret-value", 0600);
  const auto failures = secrets.refresh(::geteuid(), 2);
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_NE(failures[0].find("this host's secret 'own'"), std::string::npos) << failures[0];
  EXPECT_EQ(secrets.find("theirs")->secret->value->get()->view(), "v4lue-0123");
}

TEST(FleetLayer, GrantsEndWithTheirPolicyAtTheLatest) {
  const auto loaded = load_with(
      "",
      {policy("g", R"({"grant":[{"agent":"alpha","hosts":["a.test"]},)"
                   R"({"agent":"alpha","expires":"1970-01-01T00:01:00Z","hosts":["b.test"]}]})")});
  ASSERT_TRUE(loaded) << loaded.error().text();
  const auto& grants = loaded->settings.egress.fleet_grants;
  ASSERT_EQ(grants.size(), 2U);
  EXPECT_EQ(grants[0].expires, 1'000'000'000);
  EXPECT_EQ(grants[1].expires, 60'000'000);
}

TEST(FleetLayer, ErrorsNameThePolicy) {
  for (const auto* body :
       {"[]", "{", R"({"server":{}})", R"({"egress":[]})", R"({"egress":{"porst":[1]}})",
        R"({"egress":{"ports":["x"]}})", R"({"agent":{}})", R"({"agent":[1]})", R"({"secret":1})",
        R"({"grant":[{"agent":"alpha"}]})", R"({"grant":[{"agent":"alpha","hosts":["*.*"]}]})",
        R"({"grant":[{"agent":"alpha","hosts":["a.test"],"who":1}]})",
        R"({"secret":[{"command":["/bin/id"],"header":"X","hosts":["a.test"],"name":"x"}]})"}) {
    const auto loaded = load_with("", {policy("bad", body)});
    ASSERT_FALSE(loaded) << body;
    EXPECT_NE(loaded.error().text().find("fleet:bad"), std::string::npos) << loaded.error().text();
  }
}

TEST(FleetLayer, AnAgentOfAFleetOpensNoListener) {
  const auto loaded =
      load_with("", {policy("a", R"({"agent":[{"id":"alpha","listen":["127.0.0.1:3129"]}]})")});
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->cards.accepted.empty());
  EXPECT_EQ(loaded->cards.rejected.size(), 1U);
}

TEST(CheckFleetPolicy, FindsWhatAHostWouldFind) {
  EXPECT_FALSE(check_fleet_policy(policy("a", R"({"agent":[{"allow":[".a.test"],"id":"x"}]})"))
                   .has_errors());
  for (const auto* body :
       {R"({"agent":[{"allow":["~("],"id":"x"}]})", R"({"agent":[{"id":"X"}]})",
        R"({"agent":[{"id":"x"},{"id":"x"}]})", R"({"agent":[{"id":"x","secrets":["none"]}]})"}) {
    EXPECT_TRUE(check_fleet_policy(policy("a", body)).has_errors()) << body;
  }
}

FleetState some_state() {
  FleetState state;
  state.offline = true;
  state.layer = {{policy("a", R"({"egress":{}})")}, {{"alpha", {7, 9}}}};
  state.objects = {{"policy/a", 1, "text\n\"quoted\""}};
  state.refused = {{"policy/b", "why"}};
  return state;
}

TEST(FleetState, ReadsWhatItWrites) {
  const auto read = parse_fleet(fleet_text(some_state()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, some_state());
}

TEST(FleetState, RefusesEveryCutAndUnknownKeys) {
  const auto text = fleet_text(some_state());
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    EXPECT_FALSE(parse_fleet(text.substr(0, size))) << size;
  }
  for (const auto& [what, with] : std::vector<std::pair<std::string, std::string>>{
           {"\"version\":1", "\"version\":2"},
           {"\"offline\":true", "\"offline\":1"},
           {"\"offline\":true", "\"offline\":true,\"more\":1"},
           {"\"serial\":1", "\"serial\":-1"},
           {"\"bytes_up\":7", "\"bytes_up\":\"7\""}}) {
    auto changed = text;
    changed.replace(changed.find(what), what.size(), with);
    EXPECT_FALSE(parse_fleet(changed)) << with;
  }
}

TEST(FleetValues, EndpointsAreHttps) {
  EXPECT_EQ(parse_store_address("https://etcd-1:2379")->port, "2379");
  EXPECT_EQ(parse_store_address("https://etcd-1")->port, "2379");
  EXPECT_EQ(parse_store_address("https://[::1]:1")->host, "::1");
  for (const auto* text :
       {"http://etcd:2379", "etcd:2379", "https://", "https://a:0", "https://a:65536",
        "https://a:2379/", "https://a b", "https://u@a", "https://[::1", "https://a:"}) {
    EXPECT_FALSE(parse_store_address(text)) << text;
  }
}

}  // namespace
}  // namespace stile::config
