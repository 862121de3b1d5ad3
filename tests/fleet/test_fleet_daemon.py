"""What the daemon takes of a fleet, and from whom: the control socket's action `fleet`, without stile-fleet."""

import json
import multiprocessing
import os
import time

import pytest
from harness.cli import Operator
from harness.control import Control
from harness.wait import until

USER = 61234  # an id that nobody has
FAR = int((time.time() + 86400) * 1e6)
AGENT = {"id": "alpha", "source": ["127.0.0.11"], "allow": ["a.test", "b.test"]}


def state(offline=False, **policies):
    rows = [{"name": name, "serial": 1, "not_after": FAR, "body": json.dumps(body)} for name, body in policies.items()]
    return json.dumps({"version": 1, "offline": offline, "policies": rows, "slices": [], "objects": [], "refused": []})


def hand_over(daemon, text):
    file = os.memfd_create("state")
    os.write(file, text.encode())
    os.lseek(file, 0, os.SEEK_SET)
    with Control(daemon.settings["server"]["control"]) as control:
        control.send("fleet", descriptor=file)
        os.close(file)
        return control.read()


def become_another():
    """A member of the control socket's group that is neither root nor stile-fleet."""
    os.setgroups([])
    os.setuid(USER)


def hand_over_and_connect(socket, text):
    file = os.memfd_create("state")
    os.write(file, text.encode())
    os.lseek(file, 0, os.SEEK_SET)
    control = Control(socket)
    control.send("fleet", descriptor=file)
    return control.read()["error"]["code"], control.ask("fleet", connected=True)["ok"]


def verdict(daemon, host):
    answer = daemon.control().do("explain", agent="alpha", host=host, port="443")
    return answer["verdict"] if answer["verdict"] == "allow" else answer["reason"]


@pytest.fixture
def daemon(world):
    world.agents.append(AGENT)
    return world.start(egress={"ports": [443]})


def test_only_root_the_daemon_and_stile_fleet_hand_over_a_policy(daemon):
    """Others of the control socket's group can do a lot, but the daemon does not verify signatures."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    socket = daemon.settings["server"]["control"]
    os.chmod(os.path.dirname(socket), 0o755)
    with multiprocessing.get_context("fork").Pool(1, become_another) as another:
        assert another.apply(hand_over_and_connect, (socket, state(offline=True))) == ("forbidden", True)
    assert verdict(daemon, "a.test") == "allow"
    assert hand_over(daemon, state(offline=True))["ok"]
    assert verdict(daemon, "a.test") == "offline"


def test_online_comes_only_with_the_policies_of_that_time(daemon):
    """A denial may be among them: a moment online without it would let its host through."""
    assert hand_over(daemon, state(offline=True))["ok"]
    unreadable = {"secret": [{"name": "api", "file": "/nonexistent/token", "hosts": ["a.test"], "header": "X-Key"}]}
    refused = hand_over(daemon, state(bad=unreadable))
    assert refused["error"]["code"] == "config-error"
    assert verdict(daemon, "a.test") == "offline"
    assert daemon.control().do("status")["fleet"]["offline"]
    # In one step with the denial: no line of the log has a policy that is online without it.
    assert hand_over(daemon, state(deny={"egress": {"deny": ["b.test"]}}))["ok"]
    assert verdict(daemon, "a.test") == "allow" and verdict(daemon, "b.test") == "host-denied"
    details = [line["detail"] for line in daemon.audit.entries(event="policy") if line.get("detail", "").startswith("fleet")]
    assert details.index("fleet: deny serial 1") < details.index("fleet: online"), details


def test_the_last_checks_of_fences_are_in_ping_and_status(daemon):
    control = daemon.control()
    assert "containment" not in control.do("ping")
    control.do("note-check", agent="alpha", holds=True)
    assert control.do("ping")["containment"] == {"checked": 1, "failed": 0}
    control.do("note-check", agent="alpha", holds=False, reason="tcp: expected refused, got answered")
    assert control.do("status")["containment"] == {
        "checked": 1, "failed": 1, "problem": "alpha: tcp: expected refused, got answered"}


def test_the_entry_of_a_host_has_them_too(fleet):
    host = fleet.host("one", agent=[AGENT]).start().is_connected()

    def told():
        return [one["containment"] for one in fleet.status()["hosts"]]
    until(lambda: told() == [{"checked": 0, "failed": 0}], 20, "the entry")
    host.ask("note-check", agent="alpha", holds=False, reason="udp: expected refused, got answered")
    wanted = {"checked": 1, "failed": 1, "problem": "alpha: udp: expected refused, got answered"}
    until(lambda: told() == [wanted], 20, "the check in the entry")
    assert "1 of 1 failed: alpha: udp" in fleet.does("status", "-c", fleet.config)


def test_a_mode_of_the_host_says_that_the_switch_of_the_fleet_wins(daemon):
    """And `explain` and `doctor` advise nothing that has no effect."""
    assert hand_over(daemon, state(offline=True))["ok"]
    stile = Operator(daemon)
    said = stile.does("mode", "enforce")
    assert "has no effect yet" in said and "stile fleet online --key FILE" in said
    explained = stile("explain", "alpha", "https://a.test/")
    assert "next: stile mode" not in explained.out and "stile fleet online" in explained.out, explained
    assert "stile fleet online" in stile("doctor", "--config", daemon.config).out
    assert hand_over(daemon, state())["ok"]
    assert stile.does("mode", "enforce") == "all agents are in mode enforce\n"
