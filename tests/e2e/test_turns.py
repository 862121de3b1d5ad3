"""Turns: what one agent streams does not hold up the others on the same worker."""

import contextlib
import gzip
import socket
import ssl
import statistics
import threading

import pytest
from harness.http_origin import response
from harness.tls_wire import open_wire
from harness.wait import until


@pytest.fixture
def two(world):
    """A proxy whose one worker serves two agents, and what the first of them may reach."""
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    world.agent("beta")
    return world.start(), origin, f"http://h.test:{world.http_port}"


@contextlib.contextmanager
def endless(client, data):
    """Sends the same bytes again and again, as fast as they are taken."""
    def work():
        while client.try_send(data):
            pass
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        client.sock.shutdown(socket.SHUT_RDWR)
        thread.join()


@contextlib.contextmanager
def asking_without_end(proxy, base, count, end):
    """So many clients ask for the same again and again; an answer is over with `end`."""
    clients = [proxy.client() for _ in range(count)]

    def work(client):
        with contextlib.suppress(OSError):
            while True:
                client.sock.sendall(f"GET {base}/ HTTP/1.1\r\nHost: {base[7:]}\r\n\r\n".encode())
                tail = b""
                while not tail.endswith(end):
                    got = client.sock.recv(1 << 20)
                    if not got:
                        return
                    tail = (tail + got)[-len(end):]
    threads = [threading.Thread(target=work, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for client, thread in zip(clients, threads, strict=True):
            client.reset()
            thread.join()


# Each costs the worker as much as a hundred plain ones.
@pytest.mark.parametrize("answer, end", [
    (b"HTTP/1.1 102 P\r\n\r\n" * 3000 + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 10000 + b"0\r\n\r\n",
     b"\r\n0\r\n\r\n"),
], ids=["interim answers", "tiny chunks"])
def test_dear_answers_for_one_agent_come_after_the_others(two, answer, end):
    proxy, origin, base = two
    origin.on("/", answer)
    served = []
    with asking_without_end(proxy, base, 32, end), proxy.client("beta") as other:
        until(lambda: len(origin.requests) > 64, 60)
        for _ in range(20):
            before = len(origin.requests)
            assert other.get("http://x.test/").status == 403
            served.append(len(origin.requests) - before)
    # A request takes two or three turns: not all of the clients were served in one of them.
    assert statistics.median(served) < 16, served


# Little of this goes to the origin; all of it has to be read.
def test_upload_of_chunk_extensions_lets_others_have_their_turn(two):
    proxy, origin, base = two
    with proxy.client() as client:
        client.send(f"POST {base}/ HTTP/1.1\r\nHost: {base.split('//')[1]}\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n".encode())
        with endless(client, (b"1;" + b"x" * 4000 + b"\r\ny\r\n") * 4000):
            origin.wait_connection().wait_received(6)
            with proxy.client("beta") as other:
                for _ in range(50):
                    assert other.get("http://x.test/").status == 403


def served_until(condition, other):
    """How many requests of another agent are answered until then."""
    served = 0
    while not condition():
        assert other.get("http://x.test/").status == 403
        served += 1
    return served


def answered_in_turn(client, data, other):
    """The answer to a request whose body ends with this, after many others were served."""
    answer = []
    sending = threading.Thread(target=client.sendall, args=[data])
    reading = threading.Thread(target=lambda: answer.append(client.recv(65536)))
    for thread in (sending, reading):
        thread.start()
    assert served_until(lambda: answer, other) > 20
    for thread in (sending, reading):
        thread.join()
    return answer[0]


# Nothing of such a body goes to the origin before all of it was read.
LINES = (b"1;" + b"x" * 4000 + b"\r\ny\r\n") * 10000 + b"0\r\n\r\n"


def test_held_body_of_chunk_extensions_lets_others_have_their_turn(world):
    world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"], scan=["tokens"])
    world.agent("beta")
    proxy = world.start()
    with proxy.client() as client, proxy.client("beta") as other:
        assert other.get("http://x.test/").status == 403
        client.send(f"POST http://h.test:{world.http_port}/ HTTP/1.1\r\nHost: h.test:{world.http_port}\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n".encode())
        assert answered_in_turn(client.sock, LINES, other).startswith(b"HTTP/1.1 200")


def test_refused_push_of_chunk_extensions_lets_others_have_their_turn(world):
    world.tls_origin("a.test")
    world.agent("alpha", can=["git:push a.test/r refs/heads/agent/*"])
    world.agent("beta")
    proxy = world.start()
    command = b"0" * 40 + b" " + b"1" * 40 + b" refs/heads/main\0 report-status"
    packets = b"%04x%b0000" % (len(command) + 4, command)
    version = ssl.TLSVersion.TLSv1_2  # its ticket comes before the end of the handshake
    with (open_wire(proxy, "a.test", world.port, version=version) as client,
          proxy.client("beta") as other):
        assert other.get("http://x.test/").status == 403
        client.send(f"POST /r.git/git-receive-pack HTTP/1.1\r\nHost: a.test:{world.port}\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n".encode())
        body = client.sock.records(b"%x\r\n%b\r\n" % (len(packets), packets) + LINES)
        answered_in_turn(client.sock.sock, body, other)
    proxy.audit.wait_one(event="deny", reason="ref-not-allowed")


def test_answer_that_decompresses_to_much_more_lets_others_have_their_turn(world):
    origin = world.tls_origin("a.test")
    packed = gzip.compress(bytes(64 << 20), 6)
    origin.on("/", response(packed, headers=["Content-Encoding: gzip"]))
    world.secret("key", "a-value-that-is-scrubbed", ["a.test"], header="X-Api-Key")
    world.agent("alpha", allow=["a.test"], secrets=["key"])
    world.agent("beta")
    proxy = world.start()
    with open_wire(proxy, "a.test", world.port) as client, proxy.client("beta") as other:
        assert other.get("http://x.test/").status == 403
        client.send(f"GET / HTTP/1.1\r\nHost: a.test:{world.port}\r\n\r\n".encode())
        received = [0]

        def receive():
            while received[0] < 64 << 20 and (got := client.sock.sock.recv(1 << 20)):
                received[0] += len(got)
        receiving = threading.Thread(target=receive)
        receiving.start()
        until(lambda: received[0] > 1 << 20, 20)
        assert served_until(lambda: received[0] >= 64 << 20, other) > 40
        receiving.join()


def test_many_requests_to_stile_itself_let_others_have_their_turn(world):
    world.agent("alpha", unlisted="ask", requests_per_second=0)
    world.agent("beta")
    proxy = world.start()
    request, many = b"GET http://stile.internal/v1/asks HTTP/1.1\r\nHost: stile.internal\r\n\r\n", 20000
    with proxy.client() as client, proxy.client("beta") as other:
        assert other.get("http://x.test/").status == 403
        counts = [0]

        def count():
            tail = b""
            while counts[0] < many and (got := client.recv()):
                tail = tail[-20:] + got
                counts[0] += tail.count(b"HTTP/1.1 200") - tail[:-len(got)].count(b"HTTP/1.1 200")
        sending, counting = threading.Thread(target=client.send, args=[request * many]), threading.Thread(target=count)
        for thread in (sending, counting):
            thread.start()
        assert served_until(lambda: counts[0] >= many, other) > 20
        for thread in (sending, counting):
            thread.join()
