"""Turns: what one agent streams does not hold up the others on the same worker."""

import contextlib
import socket
import threading
import time

import pytest


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


def waits(proxy, seconds):
    """Of another agent, for answers that only the proxy has to do with; the shortest first."""
    taken = []
    end = time.monotonic() + seconds
    with proxy.client("beta") as client:
        while time.monotonic() < end:
            began = time.monotonic()
            assert client.get("http://x.test/").status == 403
            taken.append(time.monotonic() - began)
            time.sleep(0.002)
    return sorted(taken)


# Little of this goes to the origin; all of it has to be read.
def test_upload_of_chunk_extensions_lets_others_have_their_turn(two):
    proxy, origin, base = two
    with proxy.client() as client:
        client.send(f"POST {base}/ HTTP/1.1\r\nHost: {base.split('//')[1]}\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n".encode())
        with endless(client, (b"1;" + b"x" * 4000 + b"\r\ny\r\n") * 4000):
            origin.wait_connection().wait_received(6)
            assert waits(proxy, 1)[-1] < 0.5


def test_many_downloads_let_others_have_their_turn(two):
    proxy, origin, base = two

    def stream(exchange):
        exchange.read_body()
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (1 << 50))
        block = bytes(4 << 20)
        with contextlib.suppress(OSError):
            while True:
                exchange.conn.sock.sendall(block)
        return False

    def take(client):
        buffer = bytearray(4 << 20)
        with contextlib.suppress(OSError):
            while client.sock.recv_into(buffer):
                pass
    origin.on("/", stream)
    clients = [proxy.client() for _ in range(64)]
    threads = [threading.Thread(target=take, args=[client]) for client in clients]
    for client, thread in zip(clients, threads):
        client.send(f"GET {base}/ HTTP/1.1\r\nHost: {base.split('//')[1]}\r\n\r\n".encode())
        thread.start()
    try:
        taken = waits(proxy, 2)
        assert taken[len(taken) // 2] < 0.03
    finally:
        for client in clients:
            client.sock.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
