"""What the kernel says of the running daemon, and that it can do its work all the same."""

import os
from pathlib import Path

from harness.checks import assert_denied
from harness.wait import until


def threads(proxy):
    """{thread's number: {key of its status: value}}"""
    out = {}
    for task in Path(f"/proc/{proxy.process.pid}/task").iterdir():
        lines = (task / "status").read_text().splitlines()
        out[int(task.name)] = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    return out


def filters(status):
    return int(status["Seccomp_filters"])


def maps(proxy):
    return Path(f"/proc/{proxy.process.pid}/maps").read_text()


def test_no_thread_has_a_capability_or_can_get_one(world):
    world.agent("alpha", allow=["*"])
    proxy = world.start(server={"workers": 2})
    found = threads(proxy)
    assert len(found) >= 3
    for status in found.values():
        for key in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            assert int(status[key], 16) == 0, (key, status)
        if os.geteuid() == 0:  # emptying it is a privilege
            assert int(status["CapBnd"], 16) == 0, status
        assert status["NoNewPrivs"] == "1", status


def test_every_thread_is_filtered_and_workers_most(world):
    world.agent("alpha", allow=["*"])
    proxy = world.start(server={"workers": 2})

    def workers_confined():
        found = threads(proxy)
        strictest = [status for status in found.values() if filters(status) >= 2]
        return len(strictest) == 2
    until(workers_confined, 20, "two workers with a filter of their own")
    found = threads(proxy)
    # The thread sanitizer's own thread is older than main() and serves nobody.
    unfiltered = [status for status in found.values() if status["Seccomp"] != "2"]
    assert len(unfiltered) <= ("libtsan" in maps(proxy)), unfiltered
    assert found[proxy.process.pid]["Seccomp"] == "2"


def test_no_core_dumps(world):
    world.agent("alpha", allow=["*"])
    proxy = world.start()
    limits = Path(f"/proc/{proxy.process.pid}/limits").read_text()
    core = next(line for line in limits.splitlines() if line.startswith("Max core file size"))
    assert core.split()[4:6] == ["0", "0"], core


def test_reload_reads_lists_that_were_named_later(world):
    origin = world.tcp_origin("a.test")
    entry = world.agent("alpha", allow=[])
    proxy = world.start()
    assert_denied(proxy, proxy.connect("a.test", world.port), "host-not-allowed")
    entry["allow_files"] = [str(world.write("elsewhere/later.txt", "a.test\n"))]
    proxy.reload()
    proxy.audit.wait_one(event="policy", seconds=20)
    client = proxy.open_tunnel("a.test", world.port)
    origin.wait_connection(seconds=20).wait_received(client.hello, seconds=20)


def test_reload_takes_other_dns_servers(world):
    """Ways to new servers are opened while the workers may open nothing."""
    world.tcp_origin("a.test")
    world.agent("alpha", allow=["a.test"])
    proxy = world.start(dns={"servers": [f"{world.new_address()}:{world.dns.port}"],
                             "timeout_ms": 300})
    assert_denied(proxy, proxy.connect("a.test", world.port), "dns-failure")
    proxy.settings["dns"]["servers"] = [f"{world.dns.address}:{world.dns.port}"]
    proxy.reload()
    # The line of the reload comes first, then the workers are told.
    until(lambda: proxy.connect("a.test", world.port).status == 200, 20, "the new servers")
