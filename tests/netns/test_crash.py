"""Whatever is killed in the middle, the next command cleans up after it."""

import random
import subprocess
import time

import pytest

from lab.host import BUILD

KILLER = BUILD / "tests" / "netns" / "netns_step_killer"
KILLED = -9
CREATE_STEPS = range(10)
DELETE_STEPS = range(8)


def kill_before(host, what, agent, step):
    done = host.run(KILLER, what, agent, step, check=False)
    # nsenter becomes the command, so its end is the command's end.
    assert done.returncode == KILLED, (step, done)


def test_there_are_no_more_steps_than_are_tested_here(host):
    assert host.run(KILLER, "create", "alpha", len(CREATE_STEPS), check=False).returncode == 0
    assert host.run(KILLER, "delete", "alpha", len(DELETE_STEPS), check=False).returncode == 0


@pytest.mark.parametrize("step", CREATE_STEPS)
def test_create_killed_before_any_step_is_not_admitted_and_repair_removes_it(host, step):
    host.create("beta")
    clean = host.leftovers()
    kill_before(host, "create", "alpha", step)
    assert host.agents().get("alpha", {"state": "unfinished"})["state"] == "unfinished"
    host.tool("repair")
    assert host.leftovers() == clean
    assert host.tool("repair").stdout == "nothing to repair\n"
    assert host.fence_is_whole()


@pytest.mark.parametrize("step", CREATE_STEPS)
def test_create_killed_before_any_step_can_be_repeated(host, step):
    kill_before(host, "create", "alpha", step)
    assert host.create("alpha")["created"]
    assert host.fence_is_whole("alpha")
    assert host.tool("repair").stdout == "nothing to repair\n"


@pytest.mark.parametrize("step", CREATE_STEPS)
def test_create_killed_before_any_step_can_be_deleted(host, step):
    kill_before(host, "create", "alpha", step)
    host.tool("delete", "alpha")
    assert host.leftovers() == []


@pytest.mark.parametrize("finish", ["repair", "delete", "create"])
@pytest.mark.parametrize("step", DELETE_STEPS)
def test_delete_killed_before_any_step_is_finished_and_not_undone(host, step, finish):
    first = host.create("alpha")
    kill_before(host, "delete", "alpha", step)
    if finish == "create":
        again = host.create("alpha")
        assert again["created"] == (step > 0) and (step == 0) == (again["instance"] == first["instance"])
        assert host.fence_is_whole()
        return
    host.tool("repair") if finish == "repair" else host.tool("delete", "alpha")
    if step > 0 or finish == "delete":
        assert host.leftovers() == []
    else:
        assert host.fence_is_whole()  # killed before anything was done


def test_killed_at_random_times_fifty_times(host):
    start = time.monotonic()
    host.tool("create", "alpha")
    usual = time.monotonic() - start
    chance = random.Random(5)
    for _ in range(50):
        for what in ("create", "delete"):
            process = host.start_tool(what, "alpha", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.random() * usual)
            process.kill()
            process.wait()
    host.tool("repair")
    assert host.fence_is_whole()
    host.tool("delete", "alpha")
    assert host.leftovers() == []


def test_repair_removes_devices_and_elements_that_belong_to_nobody(host):
    host.create("alpha")
    host.run("ip", "link", "add", "stile-stranger", "address", "02:73:0a:c8:00:09", "type", "veth", "peer", "name", "x")
    host.run("ip", "link", "add", "stile-other", "type", "bridge")
    host.nft('add element inet stile agents { "stile-stranger" . 10.200.0.9 }\n'
             'add element inet stile refused { "stile-stranger" }')
    done = host.tool("repair").stdout
    assert "stile-stranger" in done and "belong to no agent" in done
    assert "stranger" not in host.ruleset() + host.run("ip", "link").stdout
    assert "stile-other" in host.run("ip", "link").stdout  # not of our making


DAMAGE = [
    ["ip", "netns", "del", "agent-alpha"],
    ["ip", "link", "del", "DEVICE"],
    ["ip", "link", "set", "DEVICE", "down"],
    ["ip", "link", "set", "DEVICE", "arp", "on"],
    ["ip", "route", "del", "10.200.0.2"],
    ["ip", "neigh", "del", "10.200.0.2", "dev", "DEVICE"],
    ["ip", "route", "del", "unreachable", "10.200.0.0/16", "metric", "4294967295"],
    ["ip", "addr", "del", "10.200.0.1/32", "dev", "lo"],
    ["nft", "flush", "ruleset"],
    ["nft", "flush", "chain", "inet", "stile", "arriving"],
    ["nft", "flush", "set", "inet", "stile", "agents"],
    ["sh", "-c", "echo 1 > /proc/sys/net/ipv4/conf/DEVICE/forwarding"],
    ["sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/DEVICE/disable_ipv6"],
    ["rm", "/run/stile/agents.d/alpha.json"],
    ["sh", "-c", "echo '{}' > /run/stile/agents.d/alpha.json"],
    ["ip", "netns", "exec", "agent-alpha", "ip", "link", "del", "eth0"],
    ["ip", "netns", "exec", "agent-alpha", "ip", "addr", "flush", "dev", "eth0"],
    ["ip", "netns", "exec", "agent-alpha", "ip", "link", "set", "eth0", "name", "eth7"],
]


@pytest.mark.parametrize("damage", DAMAGE, ids=" ".join)
def test_repair_makes_whole_what_others_took_away(host, damage):
    first = host.create("alpha", "--allow", ".example.com")
    device = host.device("alpha")
    host.run(*(word.replace("DEVICE", device) for word in damage))
    assert host.tool("check", check=False).returncode == 1
    assert host.tool("repair").stdout != "nothing to repair\n"
    assert host.fence_is_whole()
    assert host.create("alpha")["instance"] == first["instance"]
