// stile.toml: what is read, and the exact words about what is not.
#include <gtest/gtest.h>

#include "config/load.h"
#include "tests/config/temp_folder.h"

namespace stile::config {
namespace {

struct Read {
  Settings settings;
  std::string problems;
};

Read read(std::string_view text) {
  auto settings = parse_settings(text, "/etc/stile/t");
  if (!settings) return {{}, without(settings.error().text(), "/etc/stile/")};
  return {std::move(*settings), ""};
}

TEST(Settings, AreTheDefaultsWhenNothingIsSaid) {
  const auto [settings, problems] = read("");
  EXPECT_EQ(problems, "");
  EXPECT_EQ(settings.server.listen.at(0).text(), "127.0.0.1:3128");
  EXPECT_EQ(settings.server.metrics->text(), "127.0.0.1:9128");
  EXPECT_EQ(settings.egress.ports, std::vector<std::uint16_t>{443});
  EXPECT_TRUE(settings.agent.empty());
}

TEST(Settings, TakeEveryKey) {
  const auto [settings, problems] = read(R"(
[server]
workers = 3
listen = ["127.0.0.1:1", "[::1]:2"]
metrics = ""
control = "/run/c.sock"
control_group = "g"
read_only_group = "r"
user = "u"
state_dir = "state"
[egress]
mode = "observe"
ports = [443, 8443]
http_ports = [80]
sni = "off"
ech = "allow"
private_exceptions = ["10.100.1.0/24", {prefix = "192.168.1.1", hosts = [".example.com"]}]
strip_request_headers = []
deny = ["bad.example", "http://*.worse.example"]
deny_files = ["/etc/deny.txt"]
forbid_addresses = ["8.8.8.8", "2001:db8::/32"]
contact = "ops"
unlisted = "ask"
[dns]
servers = ["9.9.9.9", "[2620:fe::9]:5353"]
hosts_file = "/dev/null"
timeout_ms = 1
max_ttl_seconds = 0
cache_entries = 0
in_flight_per_agent = 1
[limits]
connections_per_agent = 1
requests_per_second = 0
connections = 2
header_bytes = 4096
header_timeout_ms = 3
client_hello_timeout_ms = 4
connect_timeout_ms = 5
idle_timeout_ms = 6
drain_timeout_ms = 7
ask_hold_ms = 8
[audit]
path = "audit.jsonl"
format = "squid"
on_failure = "continue"
chain = false
max_bytes = "1GiB"
keep = 0
[agents]
directories = ["cards"]
watch = true
[netns]
subnet = "10.7.0.0/24"
gateway = "10.7.0.9"
port = 8
[[agent]]
id = "alpha"
source = ["10.200.0.2", "::ffff:10.200.1.0/120"]
listen = ["127.0.0.1:3129", "unix:/run/a.sock"]
listen_mode = "600"
listen_group = "g"
allow = [".anthropic.com", "api.github.com"]
allow_files = ["allow.txt"]
deny = ["telemetry.anthropic.com"]
deny_files = ["/etc/deny.txt"]
allow_ip = ["1.1.1.1"]
forbid_addresses = ["9.0.0.0/8"]
expires = 2026-11-16T09:00:00Z
bytes_up = "50MiB"
bytes_down = ""
mode = "enforce"
ports = [1]
http_ports = []
sni = "match"
ech = [".example.org", "login.example:8443"]
private_exceptions = []
strip_request_headers = ["Cookie"]
contact = ""
connections_per_agent = 9
requests_per_second = 8
unlisted = "refuse"
)");
  ASSERT_EQ(problems, "");
  EXPECT_EQ(settings.server.workers, 3U);
  EXPECT_EQ(settings.server.listen.at(1).text(), "[::1]:2");
  EXPECT_FALSE(settings.server.metrics);
  EXPECT_EQ(settings.server.state_dir, "/etc/stile/state");
  EXPECT_EQ(settings.server.user, "u");
  EXPECT_EQ(settings.egress.mode, acl::Mode::observe);
  EXPECT_EQ(settings.egress.ports, (std::vector<std::uint16_t>{443, 8443}));
  EXPECT_FALSE(settings.egress.check_sni);
  EXPECT_TRUE(settings.egress.asks);
  EXPECT_TRUE(settings.egress.ech.everywhere);
  EXPECT_EQ(settings.egress.private_exceptions.at(1).hosts.at(0).pattern.text(), ".example.com");
  EXPECT_TRUE(settings.egress.strip_request_headers.empty());
  EXPECT_EQ(settings.egress.deny.at(1).pattern.text(), "http://*.worse.example");
  EXPECT_EQ(settings.egress.deny.at(1).line, 19U);
  EXPECT_EQ(settings.egress.forbid_addresses.at(1).text(), "2001:db8::/32");
  EXPECT_EQ(settings.dns.servers.at(0).text(), "9.9.9.9:53");
  EXPECT_EQ(settings.dns.max_ttl.count(), 0);
  EXPECT_EQ(settings.limits.drain_timeout.count(), 7);
  EXPECT_EQ(settings.limits.ask_hold.count(), 8);
  EXPECT_EQ(settings.limits.requests_per_second, 0U);
  EXPECT_EQ(settings.audit.path, "/etc/stile/audit.jsonl");
  EXPECT_EQ(settings.audit.format, AuditFormat::squid);
  EXPECT_FALSE(settings.audit.deny_on_failure);
  EXPECT_EQ(settings.audit.max_bytes, 1ULL << 30U);
  EXPECT_TRUE(settings.agents.watch);
  EXPECT_EQ(settings.netns.port, 8);
  const auto& agent = settings.agent.at(0);
  EXPECT_EQ(agent.id, "alpha");
  EXPECT_EQ(agent.source.at(1).text(), "10.200.1.0/24");  // a v4-mapped source is its v4 address
  EXPECT_EQ(agent.listen.at(1).unix_path, "/run/a.sock");
  EXPECT_EQ(agent.listen_mode, 0600U);
  EXPECT_EQ(agent.listen_group, "g");
  EXPECT_EQ(agent.allow_files.at(0), "/etc/stile/allow.txt");
  EXPECT_EQ(agent.expires, 1'794'819'600'000'000);
  EXPECT_EQ(agent.bytes_up, 50ULL << 20U);
  EXPECT_FALSE(agent.bytes_down);
  EXPECT_EQ(agent.mode, acl::Mode::enforce);
  EXPECT_TRUE(agent.http_ports && agent.http_ports->empty());
  EXPECT_EQ(agent.check_sni, true);
  EXPECT_EQ(agent.asks, false);
  EXPECT_EQ(agent.ech->hosts.at(1).pattern.text(), "login.example:8443");
  EXPECT_FALSE(agent.ech->everywhere);
  EXPECT_TRUE(agent.private_exceptions && agent.private_exceptions->empty());
  EXPECT_EQ(agent.contact, "");
  EXPECT_EQ(agent.connections_per_agent, 9U);
}

struct Case {
  const char* text;
  const char* problems;
};

// Each text with exactly what is said about it.
const Case bad_settings[] = {
    // keys
    {"[egress]\nprots = [1]\n", "t:2:1: egress.prots: unknown key; did you mean ports?\n"},
    {"[egres]\n", "t:1:2: egres: unknown key; did you mean egress?\n"},
    {"[server]\nheader_bytes = 1\n",
     "t:2:1: server.header_bytes: unknown key; it belongs in [limits]\n"},
    {"listen = []\n", "t:1:1: listen: unknown key; it belongs in [server]\n"},
    {"[[agent]]\nid = \"a\"\nlisten_mode = 660\n",
     "t:3:15: agent.listen_mode: expected a string like \"0660\", found an integer\n"},
    {"[[agent]]\nid = \"a\"\nlisten_mode = \"1660\"\n",
     "t:3:15: agent.listen_mode: '1660' is not a mode; three or four octal digits, 0777 at most, "
     "like \"0660\"\n"},
    {"[[agent]]\nid = \"a\"\nlisten_mode = \"rw-\"\n",
     "t:3:15: agent.listen_mode: 'rw-' is not a mode; three or four octal digits, 0777 at most, "
     "like \"0660\"\n"},
    {"[zzzzzzzzzzzz]\n", "t:1:2: zzzzzzzzzzzz: unknown key\n"},
    {"\"\\u001b[2J\" = 1\n", "t:1:1: \\x1b[2J: unknown key\n"},
    {"[[agent]]\nid = \"a\"\nttl_seconds = 1\n",
     "t:3:1: agent.ttl_seconds: unknown key; only agent cards have it\n"},
    {"[[agent]]\nid = \"a\"\nallowed_hosts = []\n",
     "t:3:1: agent.allowed_hosts: unknown key; here it is called allow\n"},
    {"[[agent]]\nid = \"a\"\nworkers = 1\n",
     "t:3:1: agent.workers: unknown key; it belongs in [server]\n"},
    {"[[agent]]\nid = \"a\"\nalow = []\n", "t:3:1: agent.alow: unknown key; did you mean allow?\n"},
    // types
    {"[server]\nworkers = \"4\"\n",
     "t:2:11: server.workers: expected an integer, found a string\n"},
    {"[server]\nworkers = 1.5\n",
     "t:2:11: server.workers: expected an integer, found a number with a fraction\n"},
    {"[server]\nlisten = \"127.0.0.1:1\"\n",
     "t:2:10: server.listen: expected a list, found a string\n"},
    {"[server]\nlisten = [1]\n", "t:2:11: server.listen: expected a string, found an integer\n"},
    {"[agents]\nwatch = \"yes\"\n",
     "t:2:9: agents.watch: expected true or false, found a string\n"},
    {"server = 1\n", "t:1:10: server: expected a table, [server], found an integer\n"},
    {"[agent]\nid = \"a\"\n",
     "t:1:1: agent: an agent is written as [[agent]], with two brackets\n"},
    {"agent = [1]\n", "t:1:10: agent: expected a table, [[agent]], found an integer\n"},
    {"[audit]\nmax_bytes = true\n",
     "t:2:13: audit.max_bytes: expected a number of bytes or a string like \"50MiB\", found a "
     "boolean\n"},
    {"[egress]\nech = \"off\"\n",
     "t:2:7: egress.ech: 'off' is not \"refuse\", \"allow\" or list of patterns; to allow it for "
     "some hosts, write ['off']\n"},
    {"[egress]\nech = 1\n",
     "t:2:7: egress.ech: expected \"refuse\", \"allow\" or list of patterns, found an integer\n"},
    {"[egress]\nech = [\"http://a.com\"]\n",
     "t:2:7: egress.ech: 'http://a.com' has no TLS hello; write the name without the scheme\n"},
    // ranges
    {"[server]\nworkers = -1\n", "t:2:11: server.workers: -1 is out of range; from 0 to 1024\n"},
    {"[egress]\nports = [443, 0, 65536]\n",
     "t:2:15: egress.ports: 0 is out of range; from 1 to 65535\n"
     "t:2:18: egress.ports: 65536 is out of range; from 1 to 65535\n"},
    {"[limits]\nheader_timeout_ms = 0\n",
     "t:2:21: limits.header_timeout_ms: 0 is out of range; from 1 to 86400000\n"},
    {"[audit]\nmax_bytes = -5\n", "t:2:13: audit.max_bytes: -5 is out of range; 0 or more\n"},
    {"[audit]\nmax_bytes = \"5 potatoes\"\n",
     "t:2:13: audit.max_bytes: '5 potatoes': unknown unit; a size is a number of bytes or like "
     "64KiB, 50MiB, 2GB\n"},
    // words
    {"[egress]\nmode = \"enforced\"\n",
     "t:2:8: egress.mode: 'enforced' is not \"enforce\", \"observe\" or \"offline\"; did you mean "
     "'enforce'?\n"},
    {"[egress]\nsni = true\n",
     "t:2:7: egress.sni: expected \"match\" or \"off\", found a boolean\n"},
    // duplicates
    {"[egress]\nports = [443, 443]\n", "t:2:15: egress.ports: 443 appears twice\n"},
    {"[server]\nlisten = [\"127.0.0.1:1\", \"127.0.0.1:1\"]\n",
     "t:2:26: server.listen: \"127.0.0.1:1\" appears twice\n"},
    {"[server]\nlisten = [\"127.0.0.1:9128\"]\n",
     "t:2:1: server.listen: 127.0.0.1:9128 is taken by server.metrics\n"},
    // texts and paths
    {"[server]\ncontrol = \"\"\n", "t:2:11: server.control: must not be empty\n"},
    {"[egress]\ncontact = \"a\\nb\"\n",
     "t:2:11: egress.contact: a control character in 'a\\x0ab'\n"},
    {"[egress]\nstrip_request_headers = [\"X Y\", \"host\"]\n",
     "t:2:26: egress.strip_request_headers: 'X Y' is not a header name\n"
     "t:2:33: egress.strip_request_headers: 'host' cannot be named here; Stile sets it itself\n"},
    // endpoints
    {"[server]\nlisten = [\"unix:/run/x\"]\n",
     "t:2:11: server.listen: 'unix:/run/x': a unix socket always belongs to an agent; write it in "
     "that agent's listen\n"},
    {"[server]\nlisten = [\"0.0.0.0:0\"]\n",
     "t:2:11: server.listen: '0.0.0.0:0': the port is not a number from 1 to 65535\n"},
    {"[server]\nmetrics = \"unix:/run/x\"\n",
     "t:2:11: server.metrics: 'unix:/run/x' must be a TCP address; like 127.0.0.1:9128\n"},
    {"[[agent]]\nid = \"a\"\nlisten = [\"10.0.0.1:3128\"]\n",
     "t:3:11: agent.listen: '10.0.0.1:3128': an agent's own listener must be on a loopback "
     "address; like 127.0.0.1:3129, or unix:/path\n"},
    {"[[agent]]\nid = \"a\"\nlisten = [\"127.0.0.1:3128\"]\n",
     "t:3:1: agent.listen: 127.0.0.1:3128 is taken by server.listen\n"},
    {"[dns]\nservers = [\"dns.example\"]\n",
     "t:2:12: dns.servers: 'dns.example': not an IP address\n"},
    // addresses
    {"[egress]\nforbid_addresses = [\"10.0.0.1/8\"]\n",
     "t:2:21: egress.forbid_addresses: '10.0.0.1/8' has bits set behind its prefix; did you mean "
     "10.0.0.0/8 or 10.0.0.1?\n"},
    {"[[agent]]\nid = \"a\"\nallow_ip = [\"0x7f.1\"]\n",
     "t:3:13: agent.allow_ip: '0x7f.1' is not an IP address\n"},
    {"[netns]\nsubnet = \"fd00::/64\"\n",
     "t:2:10: netns.subnet: fd00::/64 is not a subnet for agents; an IPv4 prefix from /8 to /30\n"},
    {"[netns]\ngateway = \"10.201.0.1\"\n",
     "t:2:1: netns.gateway: 10.201.0.1 is not in the subnet 10.200.0.0/16\n"},
    // exceptions
    {"[egress]\nprivate_exceptions = [\"127.0.0.0/8\"]\n",
     "t:2:1: egress.private_exceptions: 127.0.0.0/8 touches 127.0.0.0/8; loopback, link-local and "
     "the netns subnet open only as exact addresses\n"},
    {"[egress]\nprivate_exceptions = [\"0.0.0.0/0\"]\n",
     "t:2:1: egress.private_exceptions: 0.0.0.0/0 touches the netns subnet 10.200.0.0/16; "
     "loopback, "
     "link-local and the netns subnet open only as exact addresses\n"},
    {"[egress]\nprivate_exceptions = [\"::/0\"]\n",
     "t:2:1: egress.private_exceptions: ::/0 touches ::/96; loopback, link-local and the netns "
     "subnet open only as exact addresses\n"},
    {"[egress]\nprivate_exceptions = [{hosts = [\"a.example\"]}]\n",
     "t:2:23: egress.private_exceptions: prefix is missing\n"},
    {"[egress]\nprivate_exceptions = [{prefix = \"10.0.0.1\", host = []}]\n",
     "t:2:45: egress.private_exceptions: unknown key 'host'; the keys here are prefix and hosts\n"},
    {"[egress]\nprivate_exceptions = [{prefix = \"10.0.0.1\", hosts = []}]\n",
     "t:2:53: egress.private_exceptions: hosts must not be empty; leave it out for every host\n"},
    {"[egress]\nprivate_exceptions = [{prefix = \"10.0.0.1\", hosts = [\"~x\"]}]\n",
     "t:2:53: egress.private_exceptions: '~x' is not allowed in hosts; only names, without scheme, "
     "port or regex\n"},
    // patterns
    {"[egress]\ndeny = [\"ok.example\", \"*foo.example\", \"~(\"]\n",
     "t:2:23: egress.deny: '*foo.example': '*' must be alone or the whole first label "
     "(*.example.com); for more, write a regex (~^api-[0-9]+\\.example\\.com$)\n"
     "t:2:39: egress.deny: '~(': not a regular expression of RE2: missing ): (\n"},
    // agents
    {"[[agent]]\nsource = []\n", "t:1:1: agent: id is missing\n"},
    {"[[agent]]\nid = \"\"\n",
     "t:2:6: agent.id: '' is not an id; 1 to 64 of a-z, 0-9 and -, not beginning or ending with "
     "-\n"},
    {"[[agent]]\nid = \"Alpha\"\n",
     "t:2:6: agent.id: 'Alpha' is not an id; 1 to 64 of a-z, 0-9 and -, not beginning or ending "
     "with -\n"},
    {"[[agent]]\nid = \"a\"\n[[agent]]\nid = \"a\"\n",
     "t:4:1: agent.id: 'a' is taken; the other one is in t:1\n"},
    {"[[agent]]\nid = \"a\"\nsource = [\"10.0.0.1\"]\n[[agent]]\nid = \"b\"\n"
     "source = [\"::ffff:10.0.0.1\"]\n",
     "t:6:1: agent.source: 10.0.0.1/32 is taken by agent a\n"},
    {"[[agent]]\nid = \"a\"\nexpires = 2026-01-01\n",
     "t:3:11: agent.expires: expected a date and time like 2026-12-31T00:00:00Z, found a date or a "
     "time alone\n"},
    {"[[agent]]\nid = \"a\"\nexpires = \"tomorrow\"\n",
     "t:3:11: agent.expires: 'tomorrow' is not a date and time; like 2026-12-31T00:00:00Z\n"},
};

TEST(Settings, SayExactlyWhatIsWrongAndWhere) {
  for (const auto& [text, problems] : bad_settings) EXPECT_EQ(read(text).problems, problems);
}

TEST(Settings, TellAllErrorsAtOnceFromTopToBottom) {
  // One error of each section, and one that only shows at the end.
  const auto [settings, problems] = read(
      "[server]\nworkers = -1\nlisten = [\"x\"]\n[egress]\nfoo = 1\nports = 1\n"
      "[[agent]]\nid = \"A\"\n[[agent]]\nid = \"b\"\nsource = [\"1.1.1.1\"]\n"
      "[[agent]]\nid = \"b\"\nsource = [\"1.1.1.1\"]\n");
  EXPECT_EQ(problems,
            "t:2:11: server.workers: -1 is out of range; from 0 to 1024\n"
            "t:3:11: server.listen: 'x': has no port\n"
            "t:5:1: egress.foo: unknown key\n"
            "t:6:9: egress.ports: expected a list, found an integer\n"
            "t:8:6: agent.id: 'A' is not an id; 1 to 64 of a-z, 0-9 and -, not beginning or ending "
            "with -\n"
            "t:13:1: agent.id: 'b' is taken; the other one is in t:9\n"
            "t:14:1: agent.source: 1.1.1.1/32 is taken by agent b\n");
}

TEST(Settings, LetPatternsAndHeaderNamesRepeat) {
  EXPECT_EQ(read("[egress]\ndeny = [\"a.example\", \"a.example\"]\n"
                 "strip_request_headers = [\"Cookie\", \"Cookie\"]\n")
                .problems,
            "");
}

TEST(Claims, GiveBackWhatAnAgentHad) {
  AgentSettings agent;
  agent.id = "a";
  agent.source = {*acl::Prefix::parse("10.0.0.1")};
  agent.listen = {{{}, 0, "/run/a.sock"}};
  Claims claims;
  Diagnostics problems;
  ASSERT_TRUE(claims.claim(agent, problems));
  EXPECT_FALSE(claims.claim(agent, problems));
  EXPECT_EQ(problems.error_count(), 3U);
  claims.release(agent);
  EXPECT_TRUE(claims.claim(agent, problems));
}

TEST(Settings, TakeIdsOfOneTo64Characters) {
  const std::string long_id(64, 'a');
  for (const std::string& id : {std::string{"a"}, std::string{"0"}, std::string{"a-b"}, long_id}) {
    EXPECT_EQ(read("[[agent]]\nid = \"" + id + "\"\n").problems, "") << id;
  }
  for (const std::string& id : {std::string{"-a"}, std::string{"a-"}, std::string{"a_b"},
                                std::string{"a.b"}, std::string{"a/b"}, long_id + 'a'}) {
    EXPECT_NE(read("[[agent]]\nid = \"" + id + "\"\n").problems, "") << id;
  }
}

TEST(Settings, OpenClosedRangesOnlyAsExactAddresses) {
  const char* const exact[] = {"127.0.0.1", "::1", "169.254.1.1", "fe80::1/128", "10.200.0.7/32"};
  for (const char* prefix : exact) {
    const std::string text = std::string{"[egress]\nprivate_exceptions = [\""} + prefix + "\"]\n";
    EXPECT_EQ(read(text).problems, "") << prefix;
  }
  const char* const wide[] = {"127.0.0.0/31",  "126.0.0.0/7", "169.254.0.0/31",
                              "fe80::/127",    "10.0.0.0/8",  "10.200.1.0/24",
                              "::ffff:0:0/96", "::/8",        "0.0.0.0/8"};
  for (const char* prefix : wide) {
    const std::string agent =
        std::string{"[[agent]]\nid = \"a\"\nprivate_exceptions = [\""} + prefix + "\"]\n";
    EXPECT_NE(read(agent).problems, "") << prefix;
  }
}

}  // namespace
}  // namespace stile::config
