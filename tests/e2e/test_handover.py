"""Handover: a new process takes over, and open tunnels go on in it, with all that can cut them."""

import hashlib
import random
import subprocess
import threading

import pytest
from harness import hello
from harness.origin import echo, read_to_end
from harness.stiled import binary
from harness.wait import until

KIB, MIB = 1 << 10, 1 << 20


def verify(proxy):
    """What `stile audit verify` says about the log."""
    done = subprocess.run([binary("stile"), "audit", "verify", str(proxy.audit.path)],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def echoes(client, data):
    client.send(data)
    assert client.recv_exactly(len(data)) == data


def ended(client):
    """The proxy has reset or closed the connection."""
    client.recv_to_end(10)
    return True


@pytest.fixture
def running(world):
    world.tcp_origin("o.test", handler=echo)
    world.agent("alpha", allow=["o.test"])
    proxy = world.start(limits={"drain_timeout_ms": 20000})
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    return proxy, client


def test_an_open_tunnel_goes_on_in_the_new_process(world, running):
    proxy, client = running
    opened = proxy.audit.only(event="open")
    old = proxy.take_over()
    assert old.wait(10) == 0  # nothing is left for it to serve
    echoes(client, b"after")
    client.close()
    line = proxy.audit.wait_one(event="close")
    sent = len(client.hello) + len(b"after")
    assert line["conn"] == opened["conn"] and line["src"] == opened["src"]
    assert (line["bytes_up"], line["bytes_down"]) == (sent, sent)
    assert line["verdict"] == "allow" and line["rule"] == opened["rule"]
    assert [entry["event"] for entry in proxy.audit.entries()] == ["start", "open", "start", "close"]
    assert "0 unclosed connections" in verify(proxy)


def test_it_can_be_taken_over_again_and_again(world, running):
    proxy, client = running
    for number in range(4):
        assert proxy.take_over().wait(10) == 0
        echoes(client, b"round %d" % number)
        fresh = proxy.open_tunnel("o.test", world.port)
        fresh.recv_exactly(len(fresh.hello))
    conns = [line["conn"] for line in proxy.audit.entries(event="open")]
    assert len(set(conns)) == len(conns) == 5
    assert proxy.metrics().total("stile_tunnels_open") == 5


class Stream:
    """Random bytes through a tunnel, both ways at once, and their hashes at both ends."""

    def __init__(self, proxy, world, total, seed):
        self.total, self.random = total, random.Random(seed)
        self.client = proxy.open_tunnel("bulk.test", world.port)
        self.client.recv_exactly(len(self.client.hello))
        self.sent, self.got = hashlib.sha256(), hashlib.sha256()
        self.problems = []
        self.threads = [threading.Thread(target=self._guard, args=(way,), daemon=True)
                        for way in (self._send, self._receive)]
        for thread in self.threads:
            thread.start()

    def _guard(self, way):
        try:
            way()
        except Exception as error:  # seen by finish()
            self.problems.append(error)

    def _send(self):
        left = self.total
        while left:
            piece = self.random.randbytes(min(left, self.random.choice([1, 700, 64 * KIB])))
            self.sent.update(piece)
            self.client.send(piece)
            left -= len(piece)
        self.client.half_close()

    def _receive(self):
        self.got.update(self.client.recv_to_end(60))

    def finish(self):
        for thread in self.threads:
            thread.join(60)
        assert not self.problems, self.problems
        assert self.got.digest() == self.sent.digest()


def test_no_byte_is_lost_or_doubled_while_streams_run(world):
    world.tcp_origin("bulk.test", handler=echo)
    world.agent("alpha", allow=["bulk.test"])
    proxy = world.start(server={"workers": 2}, limits={"drain_timeout_ms": 20000})
    streams = [Stream(proxy, world, 24 * MIB, seed) for seed in range(6)]
    for _ in range(5):
        proxy.take_over()
    for stream in streams:
        stream.finish()
    lines = proxy.audit.wait_count(6, event="close")
    assert {line["bytes_up"] for line in lines} == {24 * MIB + len(streams[0].client.hello)}
    assert all(line["bytes_up"] == line["bytes_down"] and "reason" not in line for line in lines)


GREETING = b"greeting"  # from here on no second hello can follow


def greets(conn):
    conn.recv()
    conn.send(GREETING)
    conn.recv_to_end()


def waits(conn):
    """Greets, and reads nothing until the test says so; then everything."""
    conn.recv()
    conn.send(GREETING)
    assert conn.release.wait(60)
    conn.recv_to_end()


def greets_after_the_end(conn):
    conn.recv_to_end()
    conn.send(GREETING)
    assert conn.release.wait(60)


def test_a_client_that_ends_within_a_second_hello_leaves_its_line(world):
    """The rest of the hello is held until the origin has spoken; then the origin takes nothing more."""
    origin = world.tcp_origin("slow.test", handler=greets_after_the_end)
    world.agent("alpha", allow=["slow.test"])
    proxy = world.start(limits={"drain_timeout_ms": 20000})
    client = proxy.open_tunnel("slow.test", world.port)
    conn = origin.wait_connection()
    client.send(b"\x16\x03\x03\x00\x40")
    client.half_close()
    client.recv_exactly(len(GREETING))
    assert proxy.take_over().wait(10) == 0
    conn.release.set()
    assert client.recv_to_end(10) == b""
    assert proxy.audit.wait_one(event="close")["bytes_down"] == len(GREETING)
    assert "0 unclosed connections" in verify(proxy)


def test_bytes_that_wait_in_the_proxy_go_along(world):
    origin = world.tcp_origin("slow.test", handler=waits)
    world.agent("alpha", allow=["slow.test"])
    proxy = world.start(limits={"drain_timeout_ms": 20000})
    client = proxy.open_tunnel("slow.test", world.port)
    conn = origin.wait_connection()
    client.recv_exactly(len(GREETING))
    client.sock.settimeout(1)
    data, sent = random.Random(7).randbytes(64 * MIB), 0
    try:
        while sent < len(data):
            sent += client.sock.send(data[sent:sent + 64 * KIB])
    except TimeoutError:
        pass  # all buffers on the way are full, those of the proxy too
    client.sock.settimeout(15)
    assert 0 < sent < len(data)
    assert proxy.take_over().wait(10) == 0
    conn.release.set()
    client.send(data[sent:])
    client.half_close()
    conn.wait_ended(30)
    assert bytes(conn.received)[len(client.hello):] == data


def test_a_client_that_does_not_read_gets_everything_later(world):
    data = random.Random(8).randbytes(16 * MIB)

    def pour(conn):
        conn.recv()
        conn.send(data)
        conn.half_close()
        conn.recv_to_end()
    world.tcp_origin("pour.test", handler=pour)
    world.agent("alpha", allow=["pour.test"])
    proxy = world.start(limits={"drain_timeout_ms": 20000})
    client = proxy.open_tunnel("pour.test", world.port)
    with proxy.control() as control:
        until(lambda: any(one["bytes_down"] > MIB for one in control.do("connections")["connections"]))
    assert proxy.take_over().wait(10) == 0
    assert client.recv_to_end(30) == data


@pytest.mark.parametrize("greeting", [GREETING, b""], ids=["greeted", "not answered yet"])
def test_a_half_closed_tunnel_stays_half_closed(world, greeting):
    def late(conn):
        conn.recv()
        conn.send(greeting)
        conn.recv_to_end()
        assert conn.release.wait(30)
        conn.send(b"the answer")
    origin = world.tcp_origin("late.test", handler=late)
    world.agent("alpha", allow=["late.test"])
    proxy = world.start(limits={"drain_timeout_ms": 20000})
    client = proxy.open_tunnel("late.test", world.port)
    client.recv_exactly(len(greeting))
    conn = origin.wait_connection()
    client.half_close()
    conn.wait_ended()
    assert proxy.take_over().wait(10) == 0
    conn.release.set()
    assert client.recv_to_end(15) == b"the answer"
    line = proxy.audit.wait_one(event="close")
    assert "reason" not in line and line["bytes_down"] == len(greeting + b"the answer")


def asks_again(conn):
    """Answers the first hello only when the test says so, and asks for another one."""
    first = conn.recv()
    assert conn.release.wait(30)
    conn.send(hello.hello_retry_request(hello.session_id(first)))
    conn.recv_to_end()


@pytest.mark.parametrize("early", [b"", hello.record(b"x" * 100, kind=hello.APPLICATION_DATA)[:60]],
                         ids=["nothing", "a part of early data"])
@pytest.mark.parametrize("name, reason", [("slow.test", None), ("other.test", "sni-mismatch")])
def test_a_second_hello_is_judged_by_the_new_process(world, name, reason, early):
    origin = world.tcp_origin("slow.test", handler=asks_again)
    world.agent("alpha", allow=["slow.test"])
    proxy = world.start(limits={"drain_timeout_ms": 20000})
    client = proxy.open_tunnel("slow.test", world.port)
    client.send(early)
    conn = origin.wait_connection()
    conn.wait_received(client.hello)
    with proxy.control() as control:
        until(lambda: control.do("connections")["connections"][0]["bytes_up"] == len(client.hello + early))
    assert proxy.take_over().wait(10) == 0
    rest = hello.record(b"x" * 100, kind=hello.APPLICATION_DATA)[60:] if early else b""
    client.send(rest)
    conn.release.set()
    client.recv()
    second = hello.hello_for(name)
    client.send(second)
    if reason:
        client.recv_to_end(10)
        assert proxy.audit.wait_one(event="close")["reason"] == reason
        conn.wait_ended()
        assert second not in bytes(conn.received)
    else:
        conn.wait_received(client.hello + early + rest + second)


@pytest.mark.parametrize("way", ["revoke", "offline", "reload", "remove-agent"])
def test_what_could_cut_it_before_cuts_it_after(world, running, way):
    proxy, client = running
    with proxy.control() as early:
        proxy.take_over()
        echoes(client, b"still open")
        # The client was connected to the old process.
        if way == "revoke":
            early.do("revoke", agent="alpha", hosts=["o.test"])
        elif way == "offline":
            early.do("mode", mode="offline")
        elif way == "remove-agent":
            early.do("remove-agent", agent="alpha")
        else:
            world.agents[0]["allow"] = []
            proxy.reload()
    assert ended(client)
    assert proxy.audit.wait_one(event="close")["reason"] == "revoked"


def test_a_policy_that_changed_with_the_restart_cuts_what_it_refuses(world, running):
    proxy, client = running
    kept = proxy.open_tunnel("o.test", world.port)
    kept.recv_exactly(len(kept.hello))
    proxy.settings["agent"][0]["allow"] = ["other.test"]
    proxy.take_over()
    assert ended(client) and ended(kept)
    lines = proxy.audit.wait_count(2, event="close")
    assert {line["reason"] for line in lines} == {"revoked"}


def test_an_agent_with_other_sources_is_another_one(world, running):
    proxy, client = running
    proxy.settings["agent"][0]["source"].append(world.site.new_agent_address())
    proxy.take_over()
    assert ended(client)
    assert proxy.audit.wait_one(event="close")["reason"] == "revoked"


def test_a_lease_ends_in_the_new_process(world):
    world.tcp_origin("o.test", handler=echo)
    world.agent("alpha", allow=["other.test"])
    proxy = world.start(limits={"drain_timeout_ms": 20000})
    with proxy.control() as control:
        control.do("allow", agent="alpha", hosts=["o.test"], ttl_seconds=4, max_requests=1)
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    proxy.take_over()
    echoes(client, b"the grant's only request is still charged to it")
    assert ended(client)
    assert proxy.audit.wait_one(event="close")["reason"] == "revoked"


def test_an_idle_tunnel_ends_when_it_would_have(world):
    world.tcp_origin("o.test", handler=echo)
    world.agent("alpha", allow=["o.test"])
    proxy = world.start(limits={"drain_timeout_ms": 20000, "idle_timeout_ms": 2500})
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    proxy.take_over()
    assert ended(client)
    line = proxy.audit.wait_one(event="close")
    assert line["reason"] == "idle-timeout"


@pytest.mark.parametrize("handler, rounds", [(greets, 1), (greets, 4), (read_to_end, 1)],
                         ids=["once", "four times", "not answered yet"])
def test_a_budget_is_neither_larger_nor_smaller(world, handler, rounds):
    budget = 3 * MIB
    origin = world.tcp_origin("sink.test", handler=handler)
    world.agent("alpha", allow=["sink.test"], bytes_up=budget)
    proxy = world.start(server={"workers": 2}, limits={"drain_timeout_ms": 20000})
    client = proxy.open_tunnel("sink.test", world.port)
    conn = origin.wait_connection()
    if handler is greets:
        client.recv_exactly(len(GREETING))
    for number in range(rounds):
        client.send(b"x" * (512 * KIB))
        proxy.take_over()
    while client.try_send(b"y" * (64 * KIB)):
        pass
    line = proxy.audit.wait_one(event="close")
    assert line["reason"] == "budget-exhausted" and line["bytes_up"] == budget
    assert len(conn.received) <= budget
