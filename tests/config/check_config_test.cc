// What `check` prints: summary, errors, warnings, the effective policies.
#include "config/check_config.h"

#include <gtest/gtest.h>

#include <sstream>

#include "config/compile.h"
#include "config/effective.h"
#include "config/lint.h"
#include "tests/config/temp_folder.h"

namespace stile::config {
namespace {

class Check : public testing::Test {
 protected:
  int run(std::string_view text, bool effective = false) {
    const auto file = folder_.write(
        "stile.toml",
        "server.control_group = \"\"\nagents.directories = [\"cards\"]\n" + std::string{text});
    std::ostringstream out, err;
    const int status = check(file, out, err, {effective, cards_count_});
    out_ = without(out.str(), folder_.path() + '/');
    err_ = without(err.str(), folder_.path() + '/');
    return status;
  }
  TempFolder folder_;
  std::string out_, err_;
  bool cards_count_ = false;
};

TEST_F(Check, WarnsOfLocalhostThatCanNeverBeReached) {
  EXPECT_EQ(run("[[agent]]\nid = \"a\"\nsource = [\"10.0.0.1\"]\n"
                "allow = [\"http://localhost:80\"]\n"),
            0);
  EXPECT_EQ(
      err_,
      "stile.toml:6: warning: agent.allow: 'http://localhost' can never work: it is this host "
      "itself, to which Stile does not connect; give the service another name, and its "
      "address to private_exceptions\n");
  EXPECT_EQ(run("[[agent]]\nid = \"a\"\nsource = [\"10.0.0.1\"]\n"
                "allow = [\"localhost\"]\nprivate_exceptions = [\"127.0.0.1/32\"]\n"),
            0);
  EXPECT_EQ(err_, "");
}

TEST_F(Check, WarnsOfASecretWhoseHostItsAgentsMayNotReach) {
  folder_.write("key.txt", "open-sesame\n", 0600);
  const auto with = [this](const std::string& hosts, const std::string& agents) {
    const int status =
        run("[[secret]]\nname = \"key\"\nfile = \"key.txt\"\nheader = \"X-Key\"\nhosts = " + hosts +
            '\n' + agents);
    EXPECT_EQ(status, 0) << err_;
    return err_;
  };
  const std::string agent = "[[agent]]\nid = \"a\"\nsource = [\"10.0.0.1\"]\nsecrets = [\"key\"]\n";
  const std::string other =
      "[[agent]]\nid = \"b\"\nsource = [\"10.0.0.2\"]\nallow = [\"a.example\"]\n";
  EXPECT_EQ(with("[\"a.example\", \"b.example\"]", agent + "allow = [\"b.example\"]\n" + other),
            "stile.toml:7: warning: secret.key: no agent that uses it may reach 'a.example'\n");
  EXPECT_EQ(with("[\"*.a.example\"]", agent + "allow = [\"a.example\", \"b.a.exampl\"]\n"),
            "stile.toml:7: warning: secret.key: no agent that uses it may reach '*.a.example'\n");
  EXPECT_EQ(with("[\"a.example:8443\"]", other), "") << "for a card that comes later";
  for (const char* allow :
       {"allow = [\"a.example\"]\n", "allow = [\".example\"]\n", "allow = [\"~^a[.]example$\"]\n",
        "allow = [\"b.example\"]\nunlisted = \"ask\"\n",
        "[[agent.request]]\nhost = \"a.example\"\n"}) {
    EXPECT_EQ(with("[\"a.example\"]", agent + allow).find("no agent that uses"), std::string::npos)
        << allow;
  }
  EXPECT_EQ(with("[\"*.a.example\"]", agent + "allow = [\"b.a.example\"]\n"), "");
}

TEST_F(Check, WarnsOfFilesWithoutWhichTheDaemonDoesNotStart) {
  EXPECT_EQ(run("dns.hosts_file = \"names\"\nintercept.trust = [\"roots.pem\"]\n"
                "[[secret]]\nname = \"key\"\nfile = \"key.txt\"\nhosts = [\"a.example\"]\n"
                "header = \"X-Key\"\n"),
            0);
  EXPECT_EQ(
      err_,
      "stile.toml:3:5: warning: dns.hosts_file: names: No such file or directory; stiled "
      "finds no name there\n"
      "stile.toml:4:11: warning: intercept.trust: roots.pem: No such file or directory; stiled "
      "does not start without it\n"
      "stile.toml:5:1: warning: secret.key: key.txt: cannot be read: No such file or "
      "directory; stiled does not start without it\n");
  folder_.write("names", "");
  folder_.write("roots.pem", "");
  folder_.write("key.txt", "0123456789abcdef0123456789abcdef\n", 0600);
  EXPECT_EQ(run("dns.hosts_file = \"names\"\nintercept.trust = [\"roots.pem\"]\n"
                "[[secret]]\nname = \"key\"\nfile = \"key.txt\"\nhosts = [\"a.example\"]\n"
                "header = \"X-Key\"\n"),
            0);
  EXPECT_EQ(err_, "");
}

TEST_F(Check, ATypedConfigReadsNoFile) {
  std::ostringstream out, err;
  EXPECT_EQ(check_text("server.control_group = \"\"\n[intercept]\ntrust = [\"/nowhere.pem\"]\n",
                       "typed", out, err, {}),
            0);
  EXPECT_EQ(err.str(), "");
}

TEST_F(Check, NamesAnUnknownKeyInsideAnEntryOfAnAgent) {
  EXPECT_EQ(run("[[agent]]\nid = \"a\"\n[[agent.request]]\nhost = \"a.example\"\npath = \"/\"\n"
                "[[agent.budget]]\nhost = \"a.example\"\ntoken = 5\n"),
            1);
  EXPECT_EQ(err_,
            "stile.toml:7:1: agent.request.path: unknown key; did you mean paths?\n"
            "stile.toml:10:1: agent.budget.token: unknown key; did you mean tokens?\n");
}

TEST_F(Check, SaysOfAnInvalidValueOnlyThatItIsInvalid) {
  EXPECT_EQ(run("[[secret]]\nname = \"x\"\nfile = \"x\"\nhosts = [\"*\"]\nheader = \"Host\"\n"), 1);
  EXPECT_EQ(err_,
            "stile.toml:6:10: secret.hosts: '*' cannot be opened; write a name or *.name, with or "
            "without a port\n"
            "stile.toml:7:10: secret.header: 'Host' cannot be named here; Stile sets it itself\n");
}

TEST_F(Check, PrintsASummaryAndIsZero) {
  folder_.write("list.txt", "a.example\nb.example\n");
  folder_.write("cards/good.json", R"({"id": "good", "listen": ["unix:/run/g.sock"],
    "allow": ["c.example"]})");
  folder_.write("cards/bad.json", R"({"id": "bad", "foo": 1})");
  EXPECT_EQ(run("[[agent]]\nid = \"a\"\nsource = [\"10.0.0.1\"]\nallow_files = [\"list.txt\"]\n"),
            0);
  EXPECT_EQ(out_.substr(0, out_.find("  digest")),
            "stile.toml can be used, but not all of its agent cards\n"
            "  agents     2 (1 card, 1 refused)\n"
            "  rules      3 (1 list file)\n"
            "  listeners  127.0.0.1:3128, unix:/run/g.sock (good)\n"
            "  warnings   0\n");
  EXPECT_EQ(err_, "card refused: cards/bad.json:1:15: foo: unknown key\n");
  cards_count_ = true;  // for people, who want to know of it
  EXPECT_EQ(run(""), 1);
  EXPECT_EQ(err_, "card refused: cards/bad.json:1:15: foo: unknown key\n");
}

TEST_F(Check, PrintsAllErrorsAndIsOne) {
  EXPECT_EQ(run("[egress]\nfoo = 1\nports = [0]\n"), 1);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_,
            "stile.toml:4:1: egress.foo: unknown key\n"
            "stile.toml:5:10: egress.ports: 0 is out of range; from 1 to 65535\n");
}

TEST_F(Check, WarnsOfWhatIsProbablyNotMeant) {
  folder_.write("list.txt", "x.example\n.example\nx.example\n*.y.example\n");
  EXPECT_EQ(run(R"([egress]
deny = [".denied.example"]
[[agent]]
id = "wide"
source = ["0.0.0.0/0"]
allow = [
  "*",
  ".com",
  "*.co.uk",
  ".github.io",
  "www.denied.example:8443",
  ".anthropic.com",
]
[[agent]]
id = "gone"
expires = 2020-01-01T00:00:00Z
allow_files = ["list.txt"]
[[agent]]
id = "empty"
source = ["10.0.0.1"]
)"),
            0);
  EXPECT_EQ(
      err_,
      "stile.toml:7:1: warning: agent.source: every client that is no other agent is wide\n"
      "stile.toml:9: warning: '*' allows every name\n"
      "stile.toml:10: warning: '.com' allows names that anyone can register\n"
      "stile.toml:10: warning: '.com' changes nothing: '*' in line 9 covers it\n"
      "stile.toml:11: warning: '*.co.uk' allows names that anyone can register\n"
      "stile.toml:11: warning: '*.co.uk' changes nothing: '*' in line 9 covers it\n"
      "stile.toml:12: warning: '.github.io' allows names that anyone can register\n"
      "stile.toml:12: warning: '.github.io' changes nothing: '*' in line 9 covers it\n"
      "stile.toml:13: warning: agent.allow: 'www.denied.example:8443' is denied by "
      ".denied.example (stile.toml:4)\n"
      "stile.toml:14: warning: '.anthropic.com' changes nothing: '.com' in line 10 covers it\n"
      "stile.toml:16:1: warning: agent.source: no connection can belong to agent gone: it has no "
      "source and "
      "no listener; unless systemd passes one of this name\n"
      "stile.toml:18:1: warning: agent.expires: agent gone ended at 2020-01-01T00:00:00Z\n"
      "stile.toml:20:1: warning: agent.allow: agent empty may reach nothing\n"
      "list.txt:1: warning: 'x.example' changes nothing: '.example' in line 2 covers it\n"
      "list.txt:2: warning: '.example' allows names that anyone can register\n"
      "list.txt:3: warning: 'x.example' changes nothing: 'x.example' in line 1 covers it\n"
      "list.txt:4: warning: '*.y.example' changes nothing: '.example' in line 2 covers it\n");
}

TEST_F(Check, NamesAFewDeadRulesOfALongListAndCountsTheRest) {
  std::string names = ".example.com\n";
  for (int i = 0; i < 50; ++i) names += "h" + std::to_string(i) + ".example.com\n";
  folder_.write("list.txt", names);
  EXPECT_EQ(
      run("egress.deny_files = [\"list.txt\"]\n[[agent]]\nid = \"a\"\nallow_ip = [\"1.1.1.1\"]\n"
          "source = [\"10.0.0.1\"]\n"),
      0);
  EXPECT_NE(err_.find("list.txt: warning: 40 more patterns that change nothing\n"),
            std::string::npos)
      << err_;
}

TEST_F(Check, SaysWhichNamesOfTheSystemAreMissing) {
  const auto file =
      folder_.write("stile.toml",
                    "[agents]\ndirectories = []\n[server]\n"
                    "control_group = \"no-such-group\"\n"
                    "user = \"no-such-user\"\n"
                    "[[agent]]\nid = \"a\"\nlisten = [\"unix:/run/a\"]\nallow = [\"a.test\"]\n"
                    "listen_group = \"no-such-group\"\n");
  std::ostringstream out, err;
  EXPECT_EQ(check(file, out, err), 0);
  EXPECT_EQ(
      without(err.str(), folder_.path() + '/'),
      "stile.toml:4:1: warning: server.control_group: group 'no-such-group' does not exist on "
      "this host; stiled does not start without it\n"
      "stile.toml:5:1: warning: server.user: user 'no-such-user' does not exist on this "
      "host; stiled does not start without it\n"
      "stile.toml:6:1: warning: agent.listen_group: group 'no-such-group' does not exist on this "
      "host; stiled does not start without it\n");
}

TEST_F(Check, PrintsTheEffectivePolicyWithThePlaceOfEachValue) {
  folder_.write("list.txt", "a.example\nb.example\n");
  folder_.write("cards/b.json",
                "{\"id\": \"b\",\n \"created\": \"2026-11-16T09:00:00Z\",\n"
                " \"ttl_seconds\": 60,\n \"source\": [\"10.0.0.2\"]}\n");
  ASSERT_EQ(run(R"([egress]
deny = ["global.example"]
deny_files = ["list.txt"]
contact = "ops"
ports = [443, 8443]
[limits]
requests_per_second = 7
[[agent]]
id = "a"
source = ["10.0.0.1"]
allow = [".anthropic.com"]
allow_files = ["list.txt"]
deny = ["own.example"]
mode = "observe"
ports = [1]
)",
                true),
            0)
      << err_;
  EXPECT_EQ(out_.substr(out_.find("[[agent]]")),
            R"([[agent]]
id = "a"                                # stile.toml:11
source = ["10.0.0.1/32"]                # stile.toml:12
listen = []
listen_mode = "0660"
listen_group = ""
allow = [".anthropic.com"]              # stile.toml:13
allow_files = ["list.txt"]  # stile.toml:14, 2 patterns
deny = ["own.example", "global.example"]  # stile.toml:15, stile.toml:4
deny_files = ["list.txt"]  # stile.toml:5, 2 patterns
allow_ip = []
forbid_addresses = []
mode = "observe"                        # stile.toml:16
ports = [1]                             # stile.toml:17
http_ports = []
sni = "match"
ech = "refuse"
unlisted = "refuse"
scan = []
private_exceptions = []
strip_request_headers = ["Authorization", "Proxy-Authorization", "X-Api-Key"]
contact = "ops"                         # stile.toml:6
secrets = []
can = []
request = []
budget = []
connections_per_agent = 1024
requests_per_second = 7                 # stile.toml:9

[[agent]]
id = "b"                                # cards/b.json:1
source = ["10.0.0.2/32"]                # cards/b.json:4
listen = []
listen_mode = "0660"
listen_group = ""
allow = []
allow_files = []
deny = ["global.example"]               # stile.toml:4
deny_files = ["list.txt"]  # stile.toml:5, 2 patterns
allow_ip = []
forbid_addresses = []
expires = 2026-11-16T09:01:00Z          # cards/b.json:3
mode = "enforce"
ports = [443, 8443]                     # stile.toml:7
http_ports = []
sni = "match"
ech = "refuse"
unlisted = "refuse"
scan = []
private_exceptions = []
strip_request_headers = ["Authorization", "Proxy-Authorization", "X-Api-Key"]
contact = "ops"                         # stile.toml:6
secrets = []
can = []
request = []
budget = []
connections_per_agent = 1024
requests_per_second = 7                 # stile.toml:9
)");
}

}  // namespace
}  // namespace stile::config
