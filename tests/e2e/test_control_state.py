"""What was changed through the control socket outlives the daemon, however it ends."""

import json
import random
import signal
import time
from pathlib import Path

import pytest
from harness.checks import verdict
from harness.origin import echo, read_to_end
from harness.wait import until


@pytest.fixture
def proxy(world):
    for name in ("a.test", "b.test"):
        world.tcp_origin(name, handler=echo)
    world.agent("alpha", allow=["a.test"])
    world.agent("beta", allow=["a.test"])
    return world.start()


def restart(proxy, how):
    if how == "kill":
        proxy.kill()
    else:
        proxy.signal(signal.SIGTERM)
        assert proxy.wait_exit(30) == 0
    return proxy.start()


def state_of(world):
    return Path(world.folder) / "state" / "state.json"


@pytest.mark.parametrize("how", ["term", "kill"])
def test_everything_that_was_set_holds_after_a_restart(world, proxy, how):
    gamma = world.site.new_agent_address()
    world.addresses["gamma"] = gamma
    with proxy.control() as control:
        grant = control.do("allow", agent="alpha", hosts=["b.test"], max_requests=5,
                           reason="kept")["grant"]
        control.do("revoke", agent="alpha", hosts=["a.test"])
        control.do("mode", mode="offline", agent="beta")
        control.do("put-agent", card={"agent_id": "gamma", "source": [gamma],
                                      "allowed_hosts": ["b.test"]})
    before = proxy.audit.entries()[-1]["seq"]
    restart(proxy, how)
    assert verdict(proxy, world, "a.test") == "host-denied"
    assert verdict(proxy, world, "b.test") is None
    assert verdict(proxy, world, "a.test", "beta") == "offline"
    assert verdict(proxy, world, "b.test", "gamma") is None
    shown = proxy.control().do("agent", agent="alpha")["agent"]["grants"]
    assert [(one["id"], one["reason"]) for one in shown] == [(grant, "kept")]
    assert proxy.audit.entries()[-1]["seq"] > before


def test_removed_agent_stays_away_after_a_restart(world, proxy):
    proxy.control().do("remove-agent", agent="alpha")
    restart(proxy, "kill")
    assert verdict(proxy, world, "a.test") == "unknown-agent"
    assert verdict(proxy, world, "a.test", "beta") is None


def test_global_mode_holds_after_a_restart_until_it_is_taken_back(world, proxy):
    proxy.control().do("mode", mode="offline")
    restart(proxy, "kill")
    assert verdict(proxy, world, "a.test") == "offline"
    proxy.control().do("mode", mode="enforce")
    restart(proxy, "kill")
    assert verdict(proxy, world, "a.test") is None


def test_grant_that_ran_out_meanwhile_is_not_revived(world, proxy):
    proxy.control().do("allow", agent="alpha", hosts=["b.test"], ttl_seconds=1)
    proxy.kill()
    ends = json.loads(state_of(world).read_text())["agents"][0]["grants"][0]["expires"]
    until(lambda: time.time() * 1e6 > ends, 20)
    proxy.start()
    assert verdict(proxy, world, "b.test") == "host-not-allowed"
    assert proxy.control().do("agent", agent="alpha")["agent"]["grants"] == []


def test_requests_of_a_grant_are_counted_over_a_restart(world, proxy):
    proxy.control().do("allow", agent="alpha", hosts=["b.test"], max_requests=2)
    client = proxy.open_tunnel("b.test", world.port)
    client.recv_exactly(len(client.hello))
    client.close()
    restart(proxy, "term")
    grant = proxy.control().do("agent", agent="alpha")["agent"]["grants"][0]
    assert grant["requests_left"] == 1


@pytest.mark.parametrize("how", ["term", "kill"])
def test_budget_is_kept_and_never_counted_too_low(world, how):
    world.tcp_origin("a.test", handler=read_to_end)
    world.agent("alpha", allow=["a.test"], bytes_up="8MiB")
    proxy = world.start()
    tunnel = proxy.open_tunnel("a.test", world.port)
    tunnel.send(b"x" * (1 << 20))

    def used():
        return proxy.control().do("agent", agent="alpha")["agent"]["budgets"]["bytes_up"]["used"]
    until(lambda: used() >= 1 << 20, 20)
    until(lambda: state_of(world).exists() and any(
        agent.get("used_up", 0) >= 1 << 20
        for agent in json.loads(state_of(world).read_text())["agents"]), 20)
    exact = used()
    restart(proxy, how)
    after = used()
    assert after >= exact
    assert after <= exact + (2 << 20 if how == "kill" else 65536)


def test_agent_that_is_another_one_after_a_restart_has_no_grants(world, proxy):
    proxy.control().do("allow", agent="alpha", hosts=["b.test"])
    proxy.signal(signal.SIGTERM)
    assert proxy.wait_exit(30) == 0
    world.agents[0]["source"].append(world.site.new_agent_address())
    proxy.start()
    assert verdict(proxy, world, "b.test") == "host-not-allowed"


@pytest.mark.parametrize("text", ["", "{", '{"version":99}', '{"version":1,"unknown":true}',
                                  '{"version":1,"agents":[{"id":"alpha","denied":["?"]}]}'])
def test_broken_state_is_fatal_and_says_so(world, proxy, text):
    proxy.signal(signal.SIGTERM)
    assert proxy.wait_exit(30) == 0
    state_of(world).write_text(text)
    proxy.start(wait=False)
    proxy.expected_exit = {1}
    assert proxy.wait_exit(30) == 1
    assert "state.json" in proxy.log_text()


def test_kill_in_the_middle_of_changes_leaves_every_acknowledged_one(world, proxy):
    """Grants and revocations at full speed, then kill -9; what was answered must be there."""
    random.seed(7)
    for _ in range(3):
        control = proxy.control()
        answered = {one["id"]: one["hosts"] for one in
                    control.do("agent", agent="alpha")["agent"]["grants"]}
        for number in range(random.randrange(20, 60)):
            host = f"h{number}.test"
            if answered and random.random() < 0.4:
                grant = random.choice(sorted(answered))
                control.do("revoke", agent="alpha", grant=grant)
                del answered[grant]
            else:
                answered[control.do("allow", agent="alpha", hosts=[host])["grant"]] = [host]
        control.send("allow", agent="alpha", hosts=["unanswered.test"])
        restart(proxy, "kill")
        kept = {one["id"]: one["hosts"] for one in
                proxy.control().do("agent", agent="alpha")["agent"]["grants"]}
        extra = {grant: hosts for grant, hosts in kept.items() if grant not in answered}
        assert {grant: kept.get(grant) for grant in answered} == answered
        assert all(hosts == ["unanswered.test"] for hosts in extra.values()) and len(extra) <= 1


def listening_control(proxy):
    """None as long as the socket is not there, or there and nobody listens yet."""
    try:
        return proxy.control()
    except (FileNotFoundError, ConnectionRefusedError, PermissionError):
        return None


def test_change_that_cannot_be_logged_is_refused(world):
    world.tcp_origin("b.test", handler=echo)
    world.agent("alpha", allow=["a.test"])
    proxy = world.proxy(audit={"path": "/dev/full"})
    proxy.start(wait=False)  # it is not ready, but it can be talked to
    with until(lambda: listening_control(proxy), 20, "the control socket") as control:
        error = control.refused("allow", agent="alpha", hosts=["b.test"])
        assert error["code"] == "internal" and "audit-unavailable" in error["message"]
        assert control.do("agent", agent="alpha")["agent"]["grants"] == []
        control.do("mode", mode="offline")  # the kill switch works all the same
        assert control.do("status")["mode"] == "offline"
