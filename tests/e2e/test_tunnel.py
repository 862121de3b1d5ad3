"""The relay: bytes in both directions, ends passed on, idleness counted once for both."""

import contextlib
import fcntl
import hashlib
import os
import socket
import struct
import termios
import threading
import time

import pytest
from harness.hello import hello_for
from harness.origin import echo
from harness.wait import SOON, steady, until

pytestmark = pytest.mark.hostile_bytes

MIB = 1 << 20
BULK_MIB = int(os.environ.get("STILE_BULK_MIB", "64"))


def start(world, handler, **limits):
    origin = world.tcp_origin("o.test", handler=handler)
    world.agent("alpha", allow=["o.test"])
    proxy = world.start(limits={"drain_timeout_ms": 500, **limits})
    return proxy, origin


def test_bytes_flow_both_ways_and_are_counted(world):
    proxy, _ = start(world, echo)
    client = proxy.open_tunnel("o.test", world.port)
    size = len(client.hello)
    assert client.recv_exactly(size) == client.hello
    for number in range(50):
        message = f"message {number}".encode() * (number + 1)
        client.send(message)
        assert client.recv_exactly(len(message)) == message
        size += len(message)
    client.close()
    line = proxy.audit.wait_one(event="close")
    assert (line["bytes_up"], line["bytes_down"]) == (size, size)
    assert line["duration_ms"] >= 0
    opened = proxy.audit.only(event="open")
    assert line["rule"] == opened["rule"]
    assert opened["conn"] == line["conn"]
    metrics = proxy.metrics()
    assert metrics.total("stile_bytes_total", agent="alpha") == 2 * size
    assert metrics.total("stile_tunnels_open", agent="alpha") == 0


def test_client_that_half_closes_still_gets_the_answer(world):
    answer = os.urandom(3 * MIB)

    def after_end(conn):
        conn.recv_to_end()
        conn.send(answer)
    proxy, origin = start(world, after_end)
    client = proxy.open_tunnel("o.test", world.port)
    client.send(b"the whole question").half_close()
    assert client.recv_to_end() == answer
    assert origin.received == client.hello + b"the whole question"


def test_origin_that_half_closes_still_gets_the_rest(world):
    def first_end(conn):
        conn.recv()
        conn.send(b"that is all")
        conn.half_close()
        conn.recv_to_end()
    proxy, origin = start(world, first_end)
    client = proxy.open_tunnel("o.test", world.port)
    assert client.recv_to_end() == b"that is all"
    rest = os.urandom(3 * MIB)
    client.send(rest).half_close()
    origin.wait_connection().wait_ended()
    assert origin.received == client.hello + rest


def test_end_of_both_sides_ends_the_tunnel(world):
    proxy, origin = start(world, echo)
    client = proxy.open_tunnel("o.test", world.port)
    client.half_close()
    assert client.recv_to_end() == client.hello
    origin.connections[0].wait_ended()
    line = proxy.audit.wait_one(event="close")
    assert "reason" not in line and line.get("verdict", "allow") == "allow"
    until(lambda: proxy.metrics().total("stile_connections_open") == 0)


def test_reset_of_the_client_ends_the_origin_side(world):
    proxy, origin = start(world, lambda conn: conn.recv_to_end())
    client = proxy.open_tunnel("o.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    client.reset()
    origin.connections[0].wait_ended()
    proxy.audit.wait_one(event="close")


def test_reset_of_the_client_is_noticed_while_the_origin_does_not_read(world):
    proxy, origin = start(world, lambda conn: conn.release.wait(60))
    client = proxy.open_tunnel("o.test", world.port)
    conn = origin.wait_connection()
    pour(client)
    client.reset()
    assert proxy.audit.wait_one(20, event="close")["bytes_up"] > 0
    conn.release.set()


def test_upload_of_a_client_that_has_said_all_and_left_arrives_whole(world):
    """The origin's word for it meets a closed socket and is answered by a reset, after the FIN."""
    def later(conn):
        conn.release.wait(60)
        conn.send(b"a word")
        conn.recv_to_end()
    proxy, origin = start(world, later)
    full = proxy.open_tunnel("o.test", world.port)
    pour(full)
    taken = proxy.control().do("connections")["connections"][0]["bytes_up"]
    full.reset()
    for number in range(1, 5):
        client = proxy.open_tunnel("o.test", world.port)
        rest = b"x" * (taken + 100_000 - len(client.hello))  # a part of it waits in the proxy's socket
        client.send(rest)
        client.half_close()
        if is_sent(client.sock):
            break
        client.reset()
        taken -= 100_000  # the kernel gave this tunnel smaller buffers
    client.close()
    conn = origin.wait_connection(number)
    conn.release.set()
    conn.wait_ended(20)
    assert bytes(conn.received) == client.hello + rest
    proxy.audit.wait_count(number + 1, 20, event="close")


def is_sent(sock):
    """Waits until all, and the end, is with the other side's kernel."""
    with contextlib.suppress(AssertionError):
        return until(lambda: struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))[0] == 0, 5)


def pour(client):
    """Sends until nothing is taken any more; no TLS record in it looks like a second hello."""
    client.sock.settimeout(1)
    with contextlib.suppress(TimeoutError):
        while True:
            client.sock.send(b"x" * MIB)


def test_reset_of_the_origin_ends_the_client_side(world):
    proxy, _ = start(world, lambda conn: [conn.recv(), conn.reset()])
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_to_end(5)
    proxy.audit.wait_one(event="close")


def test_tunnel_that_flows_one_way_is_not_idle(world):
    """Both directions share one timer: a long download without a byte up lives on."""
    def streams(conn):
        conn.recv()
        while not conn.release.wait(0.1):
            conn.send(b"tick")
        conn.recv_to_end()
    proxy, origin = start(world, streams, idle_timeout_ms=1000)
    client = proxy.open_tunnel("o.test", world.port)
    started = time.monotonic()
    while time.monotonic() - started < 2.5:
        assert client.recv_exactly(4) == b"tick"
    origin.connections[0].release.set()
    rest = client.recv_to_end(5)
    assert rest in (b"", b"tick", b"ticktick")
    line = proxy.audit.wait_one(event="close")
    assert (line["reason"], line["verdict"]) == ("idle-timeout", "deny")
    assert line["duration_ms"] >= 3000


def test_tunnel_that_flows_up_only_is_not_idle(world):
    proxy, origin = start(world, lambda conn: conn.recv_to_end(), idle_timeout_ms=1000)
    client = proxy.open_tunnel("o.test", world.port)
    started = time.monotonic()

    def still_up():
        client.send(b"tick")
        return time.monotonic() - started > 2
    until(still_up)
    assert proxy.audit.entries(event="close") == []
    assert proxy.audit.wait_one(event="close")["reason"] == "idle-timeout"
    origin.connections[0].wait_ended()


def test_idle_tunnel_is_closed(world):
    proxy, origin = start(world, echo, idle_timeout_ms=400)
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    started = time.monotonic()
    client.recv_to_end(5)
    assert time.monotonic() - started < SOON
    assert proxy.audit.wait_one(event="close")["reason"] == "idle-timeout"
    origin.connections[0].wait_ended()


# Bulk.

class Bulk:
    """A block that repeats; its digest is known without generating it twice."""

    # No byte of it looks like a handshake record: those wait until the server has spoken.
    block = (os.urandom(MIB)).replace(b"\x16", b"\x17")

    @classmethod
    def digest(cls, mib):
        digest = hashlib.blake2b()
        for _ in range(mib):
            digest.update(cls.block)
        return digest.hexdigest()


def receive(sock, size):
    """Digest of the next `size` bytes, and how many there were."""
    digest, got, buffer = hashlib.blake2b(), 0, bytearray(MIB)
    view = memoryview(buffer)
    while got < size:
        count = sock.recv_into(view[:min(MIB, size - got)])
        if not count:
            break
        digest.update(view[:count])
        got += count
    return digest.hexdigest(), got


def bulk_origin(mib, hello_size, results):
    """Reads a hello and `mib`, sends `mib`, both at the same time."""
    def handler(conn):
        while len(conn.received) < hello_size:
            conn.recv(hello_size - len(conn.received))

        def send():
            for _ in range(mib):
                conn.send(Bulk.block)
        sender = threading.Thread(target=send)
        sender.start()
        results.append(receive(conn.sock, mib * MIB))
        sender.join()
    return handler


def transfer(world, tunnels, mib):
    results, greeting = [], hello_for("o.test")
    proxy, origin = start(world, bulk_origin(mib, len(greeting), results))
    client_results = []

    def run():
        client = proxy.tunnel("o.test", world.port)
        client.send(greeting)

        def send():
            for _ in range(mib):
                client.send(Bulk.block)
        sender = threading.Thread(target=send)
        sender.start()
        client_results.append(receive(client.sock, mib * MIB))
        sender.join()
        client.close()
    threads = [threading.Thread(target=run) for _ in range(tunnels)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [(Bulk.digest(mib), mib * MIB)] * tunnels
    assert client_results == expected
    until(lambda: len(results) == tunnels)
    assert results == expected
    for line in proxy.audit.wait_count(tunnels, event="close"):
        assert line["bytes_down"] == mib * MIB
        assert line["bytes_up"] > mib * MIB
    assert len(origin.connections) == tunnels


def test_large_transfer_arrives_whole_in_both_directions(world):
    transfer(world, 1, BULK_MIB)


def test_sixteen_large_transfers_at_once_arrive_whole(world):
    transfer(world, 16, BULK_MIB)


def test_tunnel_that_nobody_reads_takes_no_memory(world):
    """Back-pressure: what the client does not read stays with the origin."""
    def pours(conn):
        conn.recv()
        while not conn.release.is_set():
            conn.send(Bulk.block)
    proxy, origin = start(world, pours)
    before = proxy.resident_bytes()
    client = proxy.open_tunnel("o.test", world.port)
    conn = origin.wait_connection()
    poured = steady(lambda: conn.sent, quiet=0.5)
    assert 0 < poured < 64 * MIB
    assert proxy.resident_bytes() - before < 32 * MIB
    conn.release.set()
    client.close()


# At the mark of urgent data reads stop short, and splice(2) for good.
@pytest.mark.parametrize("side", ["up", "down"])
@pytest.mark.parametrize("before", [b"", b"bulk"], ids=["alone", "in bulk"])
def test_urgent_data_is_data_like_any_other(world, side, before):
    before = Bulk.block * 4 + b"odd" if before else b"a few"

    def say(sock):
        sock.sendall(before)
        sock.send(b"!", socket.MSG_OOB)
        sock.sendall(b"behind")
        sock.shutdown(socket.SHUT_WR)

    def serve(conn):
        if side == "down":
            say(conn.sock)
        conn.recv_to_end()
    origin = world.tcp_origin("o.test", handler=serve)
    world.agent("alpha", allow=[f"tcp://o.test:{world.port}"])
    proxy = world.start()
    client = proxy.tunnel("o.test", world.port)
    if side == "down":
        got = client.recv_to_end()
    else:
        say(client.sock)
        origin.wait_connection().wait_ended()
        got = origin.received
    assert got == before + b"!behind"


def test_slow_reader_still_gets_everything(world):
    size = 8 * MIB

    def pours(conn):
        conn.recv()
        for _ in range(size // MIB):
            conn.send(Bulk.block)
    proxy, _ = start(world, pours)
    client = proxy.open_tunnel("o.test", world.port)
    digest, got = hashlib.blake2b(), 0
    while part := client.recv(40000):
        digest.update(part)
        got += len(part)
    assert got == size and digest.hexdigest() == Bulk.digest(size // MIB)
