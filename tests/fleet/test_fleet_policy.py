"""A fleet's policy lies below the files of a host, in force in one step, kept over restarts."""

import datetime
import json

from harness.cli import stile
from harness.wait import until

AGENT = """
[[agent]]
id = "alpha"
source = ["127.0.0.11"]
allow = ["{}"]
"""


def test_a_published_policy_is_in_force_on_every_host(fleet):
    hosts = [fleet.host(name).start() for name in ("one", "two")]
    assert fleet.publish("base", AGENT.format("a.test")) == 1
    for host in hosts:
        host.has("policy/base", 1)
        assert host.agents() == {"alpha"}
        assert host.verdict("alpha", "a.test") == "allow"
        assert host.verdict("alpha", "b.test") == "host-not-allowed"
    assert fleet.publish("base", AGENT.format("b.test")) == 2
    for host in hosts:
        host.has("policy/base", 2)
        assert host.verdict("alpha", "a.test") == "host-not-allowed"
        assert host.verdict("alpha", "b.test") == "allow"


def test_the_audit_log_and_the_metrics_name_the_policy(fleet):
    host = fleet.host("one").start()
    fleet.publish("base", AGENT.format("a.test"))
    host.has("policy/base", 1)
    line = host.daemon.audit.only(event="policy")
    assert "fleet: base serial 1" in json.dumps(line), line
    rule = host.ask("explain", agent="alpha", host="a.test", port="443")["rule"]
    assert "fleet:base" in json.dumps(rule), rule
    until(lambda: host.daemon.metrics().total("stile_fleet_connected") == 1, 20, "the connection")
    metrics = host.daemon.metrics()
    assert metrics.series("stile_fleet_serial") == [({"name": "policy/base"}, 1)]
    assert metrics.total("stile_fleet_age_seconds") < 30


def test_status_shows_the_fleet(fleet):
    host = fleet.host("one").start()
    fleet.publish("base", AGENT.format("a.test"))
    host.has("policy/base", 1)
    fleet.cluster.put("/stile/policy/other", "nonsense")
    host.refuses("policy/other", "not an envelope")
    shown = stile("status", "--socket", host.socket).out
    assert "fleet     connected, policy/base 1\n" in shown, shown
    assert "policy/other: not an envelope" in shown, shown
    assert "alpha, mode enforce, from fleet:base\n" in stile("agents", "alpha", "--socket", host.socket).out
    examined = stile("doctor", "--socket", host.socket, "-c", host.daemon.config).out
    assert "fleet       connected\n" in examined and "policy/other is refused: not an envelope" in examined, examined
    fleet.cluster.close()
    until(lambda: "no store was reached for " in stile("doctor", "--socket", host.socket, "-c", host.daemon.config).out,
          30, "the loss of the store")


def test_files_of_a_host_are_above_the_fleet(fleet):
    host = fleet.host(
        "one", egress={"deny": ["denied.test"], "ports": [443]},
        agent=[{"id": "alpha", "source": ["127.0.0.12"], "allow": ["local.test"]}]).start()
    fleet.publish("base", """
[egress]
deny = ["never.test"]
ports = [8443]
http_ports = [80]
[[agent]]
id = "alpha"
source = ["127.0.0.11"]
allow = ["fleet.test"]
[[agent]]
id = "beta"
source = ["127.0.0.13"]
allow = [".test"]
""")
    host.has("policy/base", 1)
    assert host.verdict("alpha", "local.test") == "allow"  # the agent of the file
    assert host.verdict("alpha", "fleet.test") == "host-not-allowed"
    assert host.verdict("beta", "a.test") == "allow"  # and its port
    assert host.verdict("beta", "denied.test") == "host-denied"
    assert host.verdict("beta", "never.test") == "host-denied"
    assert host.verdict("alpha", "never.test") == "host-denied"
    assert host.ask("explain", agent="beta", url="http://a.test/")["verdict"] == "allow"  # only the fleet has it
    rejected = host.status()["rejected_cards"]
    assert [(card["agent"], card["file"]) for card in rejected] == [("alpha", "fleet:base")]


def test_policies_are_for_hosts_and_labels(fleet):
    one = fleet.host("one", {"labels": ["prod"]}).start()
    two = fleet.host("two", {"labels": ["test"]}).start()
    fleet.publish("a", AGENT.format("a.test"), "--label", "prod")
    fleet.publish("b", AGENT.format("b.test"), "--host", "two")
    one.has("policy/a", 1).has("policy/b", 1)
    two.has("policy/a", 1).has("policy/b", 1)
    assert one.verdict("alpha", "a.test") == "allow"
    assert one.verdict("alpha", "b.test") == "host-not-allowed"
    assert two.verdict("alpha", "a.test") == "host-not-allowed"
    assert two.verdict("alpha", "b.test") == "allow"
    fleet.publish("a", AGENT.format("a.test"), "--label", "test")  # no longer for host one
    one.has("policy/a", 2)
    assert one.agents() == set()


def test_an_empty_policy_removes_what_was_there(fleet):
    host = fleet.host("one").start()
    fleet.publish("base", AGENT.format("a.test"))
    host.has("policy/base", 1)
    fleet.cluster.ctl("del", "/stile/policy/base")
    assert fleet.publish("other", "") == 1
    host.has("policy/other", 1)
    assert host.agents() == {"alpha"}  # a key that is gone changes nothing
    fleet.entry("one", {"policy/base": 1, "policy/other": 1})
    assert fleet.publish("base", "") == 2  # the hosts remember the serial
    host.has("policy/base", 2)
    assert host.agents() == set()


def test_agents_expire_with_their_policy(fleet):
    host = fleet.host("one").start()
    fleet.publish("base", '[egress]\ndeny = ["never.test"]\n' + AGENT.format(".test"), "--for", "6s")
    host.has("policy/base", 1)
    until(lambda: host.verdict("alpha", "a.test") == "agent-expired", 15, "the end of the policy")
    assert host.ask("agent", agent="alpha")["agent"]["expires"]


def test_a_policy_that_a_host_cannot_use_is_refused_there_only(fleet):
    secret = fleet.folder / "token"
    secret.write_text("s3cret-value\n")
    secret.chmod(0o600)
    body = """
[[secret]]
name = "api"
file = "{}"
hosts = ["api.test"]
header = "Authorization"
""".format(secret)
    one = fleet.host("one").start()
    fleet.publish("base", AGENT.format("a.test"))
    one.has("policy/base", 1)
    serial = fleet.publish("secrets", body)
    one.has("policy/secrets", serial)
    secret.unlink()
    two = fleet.host("two").start()
    two.has("policy/base", 1).refuses("policy/secrets", "token")
    assert two.verdict("alpha", "a.test") == "allow"
    until(lambda: any("policy/secrets" in json.dumps(host["refused"]) for host in fleet.status()["hosts"]
                      if host["host"] == "two"), 20, "the refusal in the entry of host two")


def test_a_secret_of_the_fleet_runs_no_command(fleet):
    done = fleet.stile("publish", "bad", fleet.policy("""
[[secret]]
name = "api"
command = ["/bin/id"]
hosts = ["api.test"]
header = "Authorization"
"""), "-c", fleet.config)
    assert done.code == 1 and "cannot run commands" in done.err, done


def test_publish_refuses_a_policy_with_errors(fleet):
    for text, words in (("[egress]\nporst = [443]\n", "did you mean ports"), ("[server]\n", "unknown key"),
                        ('[[agent]]\nid = "UP"\n', "is not an id"), ('[egress]\nports = [1.5]\n', "cannot be signed")):
        done = fleet.stile("publish", "bad", fleet.policy(text), "-c", fleet.config)
        assert done.code == 1 and words in done.err, (text, done)
        checked = stile("check", "--fleet", fleet.policy(text))
        assert checked.code == 1 and words in checked.err, checked
    assert stile("check", "--fleet", fleet.policy(AGENT.format("a.test"))).code == 0
    assert fleet.cluster.get("/stile/policy/bad") is None


def test_a_signing_key_that_others_can_read_is_refused(tmp_path):
    key, policy = tmp_path / "fleet.key", tmp_path / "policy.toml"
    policy.write_text("")
    assert stile("fleet", "keygen", key).code == 0 and key.stat().st_mode & 0o777 == 0o600
    assert stile("fleet", "sign", "base", policy, "--key", key, "--serial", "1").code == 0
    again = stile("fleet", "keygen", key)
    assert again.code == 1 and "\n  note: choose another name" in again.err, again
    key.chmod(0o604)
    done = stile("fleet", "sign", "base", policy, "--key", key, "--serial", "1")
    assert done.code == 1 and f"next: chmod 600 {key}\n" in done.err and done.out == "", done
    assert "keygen" not in done.err
    none = stile("fleet", "sign", "base", policy, "--serial", "1")
    assert none.code == 1 and "next: stile fleet keygen fleet.key\n" in none.err


def test_an_error_in_a_policy_names_its_file(tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text("[server]\nworkers = 1\n")
    done = stile("check", "--fleet", policy)
    assert done.code == 1 and done.err.startswith(f"{policy}: server: unknown key"), done


def test_a_reload_keeps_the_fleets_policy(fleet):
    host = fleet.host("one").start()
    fleet.publish("base", AGENT.format("a.test"))
    host.has("policy/base", 1)
    host.daemon.settings["egress"] = {"deny": ["local.test"]}
    host.daemon.write_config()
    host.ask("reload")
    assert host.verdict("alpha", "a.test") == "allow"
    assert host.verdict("alpha", "local.test") == "host-denied"
    host.daemon.settings["agent"] = [{"id": "alpha", "source": ["127.0.0.12"], "allow": []}]
    host.daemon.write_config()
    host.ask("reload")
    assert host.verdict("alpha", "a.test") == "host-not-allowed"  # now it is the file's


def test_a_daemon_that_starts_without_store_has_the_last_policy(fleet):
    host = fleet.host("one").start()
    fleet.publish("base", AGENT.format("a.test"))
    fleet.switch("offline")
    host.has("policy/base", 1).has("switch", 1)
    host.leave()
    fleet.cluster.close()
    host.daemon.stop()
    host.daemon.start()
    assert host.status()["mode"] == "offline"
    assert host.verdict("alpha", "a.test") == "offline"
    assert host.fleet()["connected"] is False and host.fleet()["serials"]["policy/base"] == 1
    host.join()
    assert host.verdict("alpha", "a.test") == "offline"


def test_a_grant_for_an_agent_on_all_hosts(fleet):
    local = [{"id": "alpha", "source": ["127.0.0.11"], "allow": ["a.test"], "deny": ["never.test"]}]
    hosts = [fleet.host(name, agent=local).start() for name in ("one", "two")]

    def allow(*words):
        done = stile("allow", "alpha", *words, "--fleet", "--key", fleet.key, "-c", fleet.config)
        assert done.code == 0, done
    allow("b.test", "never.test", "--for", "1h")
    for host in hosts:
        host.has("policy/grants", 1)
        assert host.verdict("alpha", "b.test") == "allow"
        assert host.verdict("alpha", "never.test") == "host-denied"
    allow("c.test", "--for", "4s")
    for host in hosts:
        host.has("policy/grants", 2)
        assert host.verdict("alpha", "b.test") == "allow"
        shown = stile("agents", "alpha", "--socket", host.socket).out
        assert "b.test, never.test" in shown and "c.test" in shown and "fleet:grants" in shown, shown
    until(lambda: all(host.verdict("alpha", "c.test") == "host-not-allowed" for host in hosts), 15,
          "the end of the second grant")
    assert "c.test" not in stile("agents", "alpha", "--socket", hosts[0].socket).out
    assert hosts[0].verdict("alpha", "b.test") == "allow"
    fleet.publish("grants", "")
    for host in hosts:
        host.has("policy/grants", 3)
        assert host.verdict("alpha", "b.test") == "host-not-allowed"


def test_a_policy_waits_for_its_time(fleet):
    """What a host sees whose clock is late."""
    host = fleet.host("one").start()
    soon = datetime.datetime.utcnow().replace(microsecond=0) + datetime.timedelta(seconds=7)
    fleet.publish("base", AGENT.format("a.test"), "--from", soon.isoformat() + "Z")
    host.refuses("policy/base", "valid from")
    assert host.agents() == set()
    host.has("policy/base", 1)
    assert host.agents() == {"alpha"} and host.fleet()["refused"] == []


def test_a_changed_label_counts_without_a_restart(fleet):
    host = fleet.host("one").start()
    fleet.publish("a", AGENT.format("a.test"), "--label", "prod")
    host.has("policy/a", 1)
    assert host.agents() == set()
    host.daemon.settings["fleet"]["labels"] = ["prod"]
    host.daemon.write_config()
    host.ask("reload")
    until(lambda: host.agents() == {"alpha"}, 20, "the label")
