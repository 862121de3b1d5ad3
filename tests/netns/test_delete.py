"""delete: leaves nothing, says who was inside, closes what was open."""

import subprocess

from lab.host import PATIENCE_SECONDS
from lab.world import World


def test_leaves_nothing_of_the_agent(host):
    host.create("alpha")
    assert host.tool("delete", "alpha").stdout == "alpha deleted\n"
    assert host.leftovers() == []


def test_is_repeatable(host):
    host.create("alpha")
    host.tool("delete", "alpha")
    assert host.tool("delete", "alpha").stdout == "alpha did not exist\n"


def test_does_not_touch_the_others(host):
    host.create("alpha")
    before = host.create("beta")
    host.tool("delete", "alpha")
    assert host.create("beta") == {**before, "created": False}
    assert host.fence_is_whole()


def start_inside(host, script):
    process = host.start_tool("exec", "alpha", "--", "sh", "-c", f"echo ready; {script}",
                              stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def test_lists_processes_inside_which_have_no_network_any_more(host):
    host.create("alpha")
    process = host.start_tool("exec", "alpha", "--", "sh", "-c", "echo ready; read line; exec ip -o link",
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    done = host.tool("delete", "alpha").stdout
    assert "still running, without a network:" in done and '"sh"' in done
    seen = process.communicate("go\n", timeout=PATIENCE_SECONDS)[0]
    assert "lo:" in seen and "eth0" not in seen


def test_kill_ends_them_even_in_namespaces_of_their_own_making(host):
    host.create("alpha")
    first = start_inside(host, "exec sleep 100")
    nested = start_inside(host, "exec unshare --user --net --mount sleep 100")
    plain = host.popen("ip", "netns", "exec", "agent-alpha", "sh", "-c", "echo ready; exec sleep 100",
                       stdout=subprocess.PIPE, text=True)
    assert plain.stdout.readline() == "ready\n"
    done = host.tool("delete", "alpha", "--kill").stdout
    assert done.count("killed:") >= 5
    assert [process.wait(timeout=PATIENCE_SECONDS) for process in (first, nested, plain)] == [137, 137, -9]
    assert host.leftovers() == []


def test_kill_leaves_everybody_else_alone(host):
    host.create("alpha")
    host.create("beta")
    other = host.start_tool("exec", "beta", "--", "sh", "-c", "echo ready; exec sleep 100",
                            stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "ready\n"
    host.tool("delete", "alpha", "--kill")
    assert other.poll() is None


def test_closes_the_hosts_connections_with_that_agent_only():
    world = World()
    try:
        host = world.host
        peers = {}
        for agent in ("alpha", "beta"):
            peers[agent] = host.start_tool(
                "exec", agent, "--", "/usr/bin/python3", "-c",
                "import socket; s = socket.create_connection(('10.200.0.1', 3128)); print(s.recv(99).decode(), end='',"
                " flush=True); s.recv(1)", stdout=subprocess.PIPE, text=True)
            assert peers[agent].stdout.readline() == f"you are {world.agents[agent]['address']}\n"
        assert host.run("ss", "-Htn", "dst", "10.200.0.0/16").stdout.count("ESTAB") == 2
        world.heard()
        host.tool("delete", "alpha")
        left = host.run("ss", "-Htn", "dst", "10.200.0.0/16").stdout
        assert "10.200.0.3" in left and "10.200.0.2" not in left
        assert [event["kind"] for event in world.wait_to_hear(lambda events: events)] == ["reset"]
    finally:
        world.close()


def test_packets_for_an_agent_that_is_gone_do_not_leave_the_host():
    world = World()
    try:
        world.host.tool("delete", "alpha")
        done = world.host.run("ping", "-c1", "-W1", "10.200.0.2", check=False)
        send = "import socket; socket.socket(2, 2).sendto(b'ESCAPE', ('10.200.0.2', 9))"
        refused = world.host.run("/usr/bin/python3", "-c", send, check=False)
        assert done.returncode != 0 and "No route to host" in refused.stderr
        assert world.heard() == []
    finally:
        world.close()
