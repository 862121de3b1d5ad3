"""Turns: what one agent streams does not hold up the others on the same worker."""

import contextlib
import socket
import threading

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
