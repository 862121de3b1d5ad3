"""Budgets and counted grants are on disk before they are used: no crash makes them larger."""

import random
import threading
import time
from pathlib import Path

import pytest
from harness.checks import assert_refusal
from harness.hello import hello_for
from harness.origin import read_to_end
from harness.wait import steady, until

KIB, MIB = 1 << 10, 1 << 20
MAY_BE_TOO_MUCH = 64 * KIB


def flood(send):
    """Sends for as long as anybody takes it."""
    def run():
        while send(b"x" * 65536):
            pass
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def tunnel_of(proxy, world):
    """Floods through a new tunnel; None when it is refused."""
    client = proxy.client()
    answer = client.connect_to("a.test", world.port)
    if answer is None or answer.status != 200:
        return None
    if not client.try_send(hello_for("a.test")):
        return None
    return flood(client.try_send)


def upload_of(proxy, world):
    """Floods with the body of a plain-HTTP request that has no end; None when it is refused."""
    client = proxy.client()
    head = f"POST http://h.test:{world.http_port}/ HTTP/1.1\r\nHost: h.test:{world.http_port}\r\n"
    if not client.try_send(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n"):
        return None
    return flood(lambda data: client.try_send(b"10000\r\n" + data + b"\r\n"))


@pytest.mark.parametrize("way", ["tunnel", "plain-http", "grant"])
def test_no_kill_gives_an_agent_more_than_its_budget(world, way):
    budget = MIB + 300 * KIB
    random.seed(way)
    origin = world.tcp_origin("a.test", handler=read_to_end)
    sink = world.tcp_origin("h.test", handler=read_to_end, port=world.http_port)
    if way == "grant":
        world.agent("alpha", allow=["b.test"])
    else:
        world.agent("alpha", allow=["a.test", f"http://h.test:{world.http_port}"],
                    bytes_up=budget)
    proxy = world.start(server={"workers": 2})
    if way == "grant":
        proxy.control().do("allow", agent="alpha", hosts=["a.test"], bytes_up=budget)
    start = upload_of if way == "plain-http" else tunnel_of

    def arrived():
        return sum(len(conn.received) for conn in origin.connections + sink.connections)

    def is_over():
        answer = proxy.connect("a.test", world.port)
        return answer.status != 200 and answer.reason in ("budget-exhausted", "host-not-allowed")
    lives = 0
    while not is_over():
        lives += 1
        assert lives < 60, "the budget is never used up"
        before = arrived()
        floods = [start(proxy, world) for _ in range(3)]
        until(lambda: arrived() > before or is_over(), 30, "bytes at the origin, or the end")
        time.sleep(random.random() * 0.05)  # the moment of the crash is what is random here
        proxy.kill()
        for thread in floods:
            if thread:
                thread.join(20)
        proxy.start()
    assert 0 < steady(arrived) <= budget + MAY_BE_TOO_MUCH


def test_requests_of_a_grant_are_not_given_twice_by_a_kill(world):
    world.tcp_origin("a.test", handler=read_to_end)
    world.agent("alpha", allow=["b.test"])
    proxy = world.start()
    proxy.control().do("allow", agent="alpha", hosts=["a.test"], max_requests=5)

    def opened():
        return len(proxy.audit.entries(event="open"))
    for life in range(8):
        client = proxy.client()
        answer = client.connect_to("a.test", world.port)
        if answer.status != 200:
            assert_refusal(answer, "host-not-allowed")
            break
        before = opened()
        client.send(hello_for("a.test"))
        until(lambda: opened() > before, 20, "the opening")
        proxy.kill()
        proxy.start()
    else:
        raise AssertionError("the grant never ends")
    assert 1 <= opened() <= 5


def test_bulk_transfer_waits_for_the_record_and_is_not_cut(world):
    """Sixty steps in a row, each of which has to be on disk first."""
    origin = world.tcp_origin("a.test", handler=read_to_end)
    world.agent("alpha", allow=["a.test"], bytes_up="4MiB")
    proxy = world.start(server={"workers": 2})
    tunnel = proxy.open_tunnel("a.test", world.port)
    whole = 4 * MIB - 100 * KIB
    tunnel.send(b"x" * whole)
    origin.wait_connection(0, 30).wait_received(whole, 30)
    left = proxy.control().do("agent", agent="alpha")["agent"]["budgets"]["bytes_up"]["left"]
    assert left == 100 * KIB - len(tunnel.hello)
    assert not proxy.audit.entries(event="close")


@pytest.fixture
def broken_disk(world):
    """Makes that the state cannot be written: its new file's name is taken by a folder."""
    blocker = Path(world.folder) / "state" / ".state.json.new"

    class Disk:
        @staticmethod
        def break_it():
            blocker.unlink(missing_ok=True)
            blocker.mkdir()

        @staticmethod
        def mend_it():
            blocker.rmdir()
    return Disk


def test_nothing_is_handed_out_while_the_state_cannot_be_written(world, broken_disk):
    origin = world.tcp_origin("a.test", handler=read_to_end)
    world.agent("alpha", allow=["a.test"], bytes_up="8MiB")
    world.agent("beta", allow=["a.test"])
    proxy = world.start()
    tunnel = proxy.open_tunnel("a.test", world.port)
    conn = origin.wait_connection(0, 20)
    conn.wait_received(len(tunnel.hello), 20)
    broken_disk.break_it()
    flood_thread = flood(tunnel.try_send)
    until(lambda: proxy.metrics().total("stile_state_write_failures_total") >= 3, 30)
    arrived = len(conn.received)
    assert arrived <= 3 * 128 * KIB, "it ends where the record ends"
    other = proxy.open_tunnel("a.test", world.port, "beta")  # who has no budget notices nothing
    other.send(b"y" * 100_000)
    origin.wait_connection(1, 20).wait_received(100_000, 20)
    assert len(conn.received) == arrived and not proxy.audit.entries(event="close")
    assert proxy.log_text().count("the state cannot be saved") == 1
    broken_disk.mend_it()
    conn.wait_received(arrived + MIB, 30)  # goes on by itself
    assert "the state can be saved again" in proxy.log_text()
    proxy.audit.wait_one(30, event="close", agent="alpha", reason="budget-exhausted")
    flood_thread.join(20)
    assert len(conn.received) <= 8 * MIB + MAY_BE_TOO_MUCH


def test_budget_reset_that_cannot_be_saved_is_undone(world, broken_disk):
    origin = world.tcp_origin("a.test", handler=read_to_end)
    world.agent("alpha", allow=["a.test"], bytes_up="64KiB")
    proxy = world.start()
    control = proxy.control()
    proxy.open_tunnel("a.test", world.port).try_send(b"x" * 300_000)
    proxy.audit.wait_one(20, event="close", reason="budget-exhausted")
    broken_disk.break_it()
    assert control.refused("budget-reset", agent="alpha")["code"] == "internal"
    budgets = control.do("agent", agent="alpha")["agent"]["budgets"]["bytes_up"]
    assert budgets == {"total": 65536, "used": 65536, "left": 0}
    assert_refusal(proxy.connect("a.test", world.port), "budget-exhausted")
    broken_disk.mend_it()
    proxy.kill()
    proxy.start()
    assert_refusal(proxy.connect("a.test", world.port), "budget-exhausted")
    assert len(origin.received) <= 65536 + MAY_BE_TOO_MUCH


def test_removal_that_cannot_be_saved_is_in_force_and_gives_no_budget_back(world, broken_disk):
    world.tcp_origin("a.test", handler=read_to_end)
    world.agent("alpha", allow=["a.test"], bytes_up="64KiB")
    proxy = world.start()
    proxy.open_tunnel("a.test", world.port).try_send(b"x" * 300_000)
    proxy.audit.wait_one(20, event="close", reason="budget-exhausted")
    broken_disk.break_it()
    assert "not saved" in proxy.control().refused("remove-agent", agent="alpha")["message"]
    assert_refusal(proxy.connect("a.test", world.port), "unknown-agent")
    proxy.kill()
    broken_disk.mend_it()
    proxy.start()  # with the state from before
    assert_refusal(proxy.connect("a.test", world.port), "budget-exhausted")
