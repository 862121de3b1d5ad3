"""Turns: what one agent streams does not hold up the others on the same worker."""

import contextlib
import socket
import statistics
import threading

import pytest
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
