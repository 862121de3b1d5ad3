"""Three nodes of etcd that die, are cut off, forget and come back."""

import socket

import pytest
from harness.etcd import Relay
from harness.wait import until

AGENT = """
[[agent]]
id = "alpha"
source = ["127.0.0.11"]
allow = ["{}"]
"""


@pytest.fixture
def three(make_fleet):
    return make_fleet(3)


def test_a_node_and_the_leader_may_die(three):
    host = three.host("one").start()
    three.publish("base", AGENT.format("a.test"))
    host.has("policy/base", 1)
    leader = until(three.cluster.leader, 20, "a leader")
    leader.kill()
    until(lambda: three.cluster.leader() not in (None, leader), 20, "another leader")
    assert three.publish("base", AGENT.format("b.test")) == 2
    host.has("policy/base", 2, 30).is_connected()
    assert host.verdict("alpha", "b.test") == "allow"


@pytest.mark.long
def test_two_nodes_and_all_may_die_and_return(three):
    host = three.host("one").start()
    three.publish("base", AGENT.format("a.test"))
    host.has("policy/base", 1).is_connected()
    for node in three.cluster.nodes[:2]:
        node.kill()
    host.is_connected(False, 40)  # one of three cannot say what counts
    assert host.verdict("alpha", "a.test") == "allow"
    three.cluster.nodes[2].kill()
    assert host.verdict("alpha", "a.test") == "allow"
    three.cluster.start()
    host.is_connected(True, 40)
    three.publish("base", AGENT.format("b.test"))
    host.has("policy/base", 2, 30)


@pytest.mark.long
def test_a_partition_is_noticed_and_left_behind(three):
    relays = [Relay(node.port) for node in three.cluster.nodes]
    try:
        host = three.host("one", {"endpoints": [relay.url for relay in relays]}).start()
        three.publish("base", AGENT.format("a.test"))
        host.has("policy/base", 1).is_connected()
        for relay in relays:
            relay.cut()
        three.publish("base", AGENT.format("b.test"))
        host.is_connected(False, 40)
        assert host.verdict("alpha", "a.test") == "allow"
        relays[1].mend()
        host.has("policy/base", 2, 60)
    finally:
        for relay in relays:
            relay.close()


def test_a_compaction_while_away_costs_nothing(fleet):
    host = fleet.host("one").start()
    fleet.publish("base", AGENT.format("a.test"))
    host.has("policy/base", 1)
    host.leave()
    for i in range(5):
        fleet.publish("base", AGENT.format(f"h{i}.test"))
    fleet.cluster.ctl("compact", "--physical", str(fleet.cluster.revision()))
    host.join().has("policy/base", 6)
    assert host.verdict("alpha", "h4.test") == "allow"


def test_a_compaction_behind_a_cut_leads_to_a_full_read(fleet):
    relay = Relay(fleet.cluster.nodes[0].port)
    try:
        host = fleet.host("one", {"endpoints": [relay.url]}).start()
        fleet.publish("base", AGENT.format("a.test"))
        host.has("policy/base", 1)
        relay.cut()
        for i in range(3):
            fleet.publish("base", AGENT.format(f"h{i}.test"))
        fleet.cluster.ctl("compact", "--physical", str(fleet.cluster.revision()))
        relay.mend()
        host.has("policy/base", 4, 40)
    finally:
        relay.close()


def test_a_store_that_was_rolled_back_changes_nothing(fleet):
    host = fleet.host("one").start()
    fleet.publish("base", AGENT.format("a.test"))
    old = fleet.cluster.get("/stile/policy/base")
    fleet.publish("base", AGENT.format("b.test"))
    host.has("policy/base", 2)
    fleet.cluster.put("/stile/policy/base", old)
    host.refuses("policy/base", "rolled back: serial 1 after serial 2")
    assert host.verdict("alpha", "b.test") == "allow"
    host.leave()
    host.daemon.stop()
    host.daemon.start()
    host.join().refuses("policy/base", "rolled back")
    assert host.verdict("alpha", "b.test") == "allow"
    assert host.verdict("alpha", "a.test") == "host-not-allowed"
    # The next one counts, since `publish` reads the entries of the hosts, too.
    fleet.entry("one", {"policy/base": 2})
    assert fleet.publish("base", AGENT.format("c.test")) == 3
    host.has("policy/base", 3)
    assert host.fleet()["refused"] == []


def test_a_host_tells_the_fleet_about_itself(fleet):
    host = fleet.host("one", {"labels": ["prod"]}, agent=[
        {"id": "local", "source": ["127.0.0.12"], "allow": []}]).start()
    fleet.publish("base", AGENT.format("a.test"))
    host.has("policy/base", 1)
    told = fleet.entry("one", {"policy/base": 1})
    assert told["mode"] == "enforce" and told["agents"] == 2 and told["labels"] == ["prod"]
    assert told["refused"] == [] and told["offline"] is False and told["version"]
    shown = fleet.status()
    assert [(one["host"], one["behind"]) for one in shown["hosts"]] == [("one", "")]
    assert "one " in fleet.does("status", "-c", fleet.config)


def test_a_prefix_of_its_own_and_the_name_of_the_system(fleet):
    """Two fleets in one store do not see each other, and `host = ""` is the host name."""
    first = fleet.host("one").start().is_connected()
    fleet.settings["prefix"] = "/other/fleet"
    fleet.write_config()
    second = fleet.host("two", {"host": ""}).start()
    fleet.publish("base", AGENT.format("a.test"))
    second.has("policy/base", 1)
    until(lambda: fleet.cluster.get(f"/other/fleet/hosts/{socket.gethostname().lower()}"), 20, "its entry")
    assert fleet.cluster.get("/other/fleet/policy/base") and not fleet.cluster.get("/stile/policy/base")
    fleet.switch("offline")
    second.has("switch", 1)
    assert first.fleet()["serials"] == {} and first.status()["mode"] == "enforce"


@pytest.mark.long
def test_the_entry_of_a_host_that_died_goes_away(fleet):
    host = fleet.host("one").start()
    until(lambda: fleet.cluster.get("/stile/hosts/one"), 20, "the entry")
    host.process.kill()
    host.process.wait(10)
    host.process = None
    until(lambda: fleet.cluster.get("/stile/hosts/one") is None, 40, "the end of its lease")


def test_who_lags_is_shown(fleet):
    host = fleet.host("one").start()
    fleet.publish("base", AGENT.format("a.test"))
    host.has("policy/base", 1)
    until(lambda: "policy/base" in (fleet.cluster.get("/stile/hosts/one") or ""), 20, "the entry")
    host.leave()
    fleet.publish("base", AGENT.format("b.test"))
    assert [one["behind"] for one in fleet.status()["hosts"]] == ["policy/base 1 of 2"]


def test_two_who_publish_at_once_do_not_hide_each_other(fleet):
    fleet.publish("base", AGENT.format("a.test"))
    signed = fleet.sign("base", AGENT.format("b.test"), 2)
    file = fleet.policy(signed, "b.signed")
    fleet.does("publish", "base", file, "--signed", "-c", fleet.config)
    assert fleet.cluster.get("/stile/policy/base") == signed
    assert fleet.publish("base", AGENT.format("c.test")) == 3


def test_mutual_tls(make_fleet):
    fleet = make_fleet(client_auth=True)
    host = fleet.host("one").start()
    fleet.publish("base", AGENT.format("a.test"))
    host.has("policy/base", 1)
    stranger = fleet.host("two", {"cert": "", "key": ""}).start()
    until(lambda: "fleet: 127.0.0.1" in stranger.log_text(), 20, "a refusal by the store")
    assert stranger.fleet().get("serials", {}) == {}


def test_user_and_password(fleet):
    for words in (["user", "add", "root:pw"], ["user", "grant-role", "root", "root"], ["auth", "enable"]):
        fleet.cluster.ctl(*words)
    password = fleet.folder / "password"
    password.write_text("pw\n")
    fleet.settings.update(user="root", password_file=str(password))
    fleet.write_config()
    host = fleet.host("one").start()
    fleet.publish("base", AGENT.format("a.test"))
    host.has("policy/base", 1)
    wrong = fleet.folder / "wrong"
    wrong.write_text("other\n")
    stranger = fleet.host("two", {"password_file": str(wrong)}).start()
    until(lambda: "authentication failed" in stranger.log_text(), 20, "a refusal by the store")


def test_a_certificate_of_another_ca_is_refused(fleet, certificates):
    host = fleet.host("one", {"ca": certificates.ca_file}).start()
    until(lambda: "no TLS" in host.log_text(), 20, "a refusal of the certificate")
    assert not host.fleet().get("connected")
