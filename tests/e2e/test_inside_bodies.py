"""Bodies inside opened tunnels: their records, their ends, and many of them at once."""

import random
import re
import select
import socket
import ssl
import threading

import pytest
from harness.http_origin import response
from harness.inside import Inside
from harness.tls_wire import WireTls, open_wire
from harness.wait import SOON
from test_scans import TOKEN

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data):
    return b"%x\r\n%b\r\n" % (len(data), data)


def read_records(sock):
    """The sizes of the TLS records up to the end of the connection."""
    data = bytearray()
    while part := sock.recv(65536):
        data += part
    sizes = []
    while len(data) >= 5:
        sizes.append(int.from_bytes(data[3:5], "big"))
        del data[:5 + sizes[-1]]
    return sizes


def test_small_chunks_are_sent_together_to_a_client_of_http_1_0(world):
    origin, has_begun = world.tls_origin("a.test"), threading.Event()
    world.agent("alpha", request=[{"host": "a.test"}])

    def in_small_chunks(exchange):
        exchange.send(CHUNKED)
        has_begun.wait(SOON)
        exchange.send(chunk(b"x") * 2000 + b"0\r\n\r\n")
    origin.default = in_small_chunks
    client = open_wire(world.start(), "a.test", world.port)
    client.send(f"GET / HTTP/1.0\r\nHost: a.test:{world.port}\r\n\r\n".encode())
    assert client.recv().startswith(b"HTTP/1.")
    has_begun.set()
    sizes = read_records(client.sock.sock)
    assert sum(sizes) > 2000, "all of it came"
    assert len(sizes) < 20


def test_an_end_that_an_origin_announces_with_its_last_bytes_is_seen_at_once(world):
    """It then waits for the end of the other side, and closes nothing before."""
    origin = world.tls_origin("a.test")
    world.agent("alpha", request=[{"host": "a.test"}])

    def answer_and_wait(exchange):
        exchange.conn.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)  # in one segment
        exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it")
        exchange.conn.sock.unwrap()
        return False
    origin.default = answer_and_wait
    inside = Inside(world, world.start(), "a.test")
    answer = inside.get("/")
    assert (answer.body, answer.complete) == (b"all of it", True)


def test_a_refusal_within_a_body_of_small_records_is_not_lost(world):
    """What the client still sends is read before the connection is closed."""
    world.tls_origin("a.test")
    world.agent("alpha", request=[{"host": "a.test", "methods": ["*"]}], scan=["tokens"])
    client = open_wire(world.start(), "a.test", world.port)
    body = b"x" * 100000 + f" {TOKEN} ".encode() + b"y" * 100000
    client.send(f"POST / HTTP/1.1\r\nHost: a.test:{world.port}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode())
    pieces = [body[at:at + 500] for at in range(0, len(body), 500)]
    client.sock.sock.sendall(b"".join(client.sock.records(piece) for piece in pieces))
    assert client.read_response().reason == "secret-found"
    assert client.recv_to_end() == b"" and not client.was_reset


# Many at once: the worker has one buffer for all connections, so each byte is checked.

def echo_as_it_comes(exchange):
    """A body with a length, sent back in chunks while it still arrives."""
    left = int(exchange.request.value("content-length"))
    exchange.send(CHUNKED)
    while left > 0:
        piece = exchange.read(min(left, random.choice([1, 700, 5000, 40000])))
        if not piece:
            return False
        left -= len(piece)
        exchange.send(chunk(piece))
    exchange.send(b"0\r\n\r\n")
    return True


def echo_at_the_end(exchange):
    exchange.send(response(exchange.read_body()))
    return True


def echo_until_closed(exchange):
    exchange.send(b"HTTP/1.1 200 OK\r\n\r\n" + exchange.read_body())
    if isinstance(exchange.conn.sock, ssl.SSLSocket):
        exchange.conn.sock.unwrap()  # without it the answer would count as cut
    return False


class Pump:
    """Sends and receives at the same time, in one thread: TLS in Python takes only one."""

    def __init__(self, sock, name=None, ca_file=None):
        self.sock, self.tls, self.received, self.has_ended = sock, None, bytearray(), False
        if name:
            wire = WireTls(sock, name, ca_file)
            self.tls, self._in, self._out = wire.tls, wire.incoming, wire.outgoing
        sock.setblocking(False)

    def run(self, pieces, is_done):
        out = b""
        while not is_done(self.received, self.has_ended):
            if not out and pieces:
                out = self._records(pieces.pop(0))
            readable, writable, _ = select.select([self.sock], [self.sock] if out else [], [], 30)
            assert readable or writable, "nothing moves"
            if writable:
                out = out[self.sock.send(out):]
            if readable:
                self._receive()

    def _records(self, data):
        if not self.tls:
            return data
        self.tls.write(data)
        return self._out.read()

    def _receive(self):
        data = self.sock.recv(random.choice([100, 5000, 65536]))
        if not self.tls:
            self.received += data
            self.has_ended = not data
            return
        if data:
            self._in.write(data)
        else:
            self._in.write_eof()
        try:
            while part := self.tls.read(65536):
                self.received += part
            self.has_ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.has_ended = True


def take_answer(data, has_ended):
    """(status, body, size) of the answer at the beginning; None: it is not whole yet."""
    end = data.find(b"\r\n\r\n") + 4
    if end < 4:
        return None
    head = bytes(data[:end]).lower()
    status = int(head.split()[1])
    if status < 200:
        return status, b"", end
    if b"transfer-encoding: chunked" in head:
        body, at = b"", end
        while (line := data.find(b"\r\n", at)) >= 0:
            size = int(data[at:line], 16)
            at = line + 2 + size + 2
            if at > len(data):
                return None
            body += data[line + 2:line + 2 + size]
            if size == 0:
                return status, body, at
        return None
    if found := re.search(rb"content-length: (\d+)", head):
        size = end + int(found[1])
        return (status, bytes(data[end:size]), size) if len(data) >= size else None
    return (status, bytes(data[end:]), len(data)) if has_ended else None


class Talker(threading.Thread):
    """One connection after the other, with requests of random sizes in random pieces."""

    def __init__(self, world, proxy, seed, agent, is_inside, rounds):
        super().__init__(daemon=True)
        self.world, self.proxy, self.agent, self.is_inside = world, proxy, agent, is_inside
        self.random, self.rounds, self.error = random.Random(seed), rounds, None
        self.host = "a.test" if is_inside else "h.test"
        self.authority = f"{self.host}:{world.port if is_inside else world.http_port}"

    def run(self):
        try:
            for _ in range(self.rounds):
                self.talk()
        except BaseException as error:  # shown by the test
            self.error = error

    def connect(self, client):
        if self.random.random() < 0.3:  # it takes little at once
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        if not self.is_inside:
            return Pump(client.sock)
        assert client.connect_to(self.host, self.world.port).status == 200
        return Pump(client.sock, self.host, self.proxy.stile_ca)

    def request(self, path):
        """The bytes of a request, and those of its body."""
        size = self.random.choice([0, 1, 100, 5000, 20000, 65536, 150000])
        body = self.random.randbytes(self.random.randint(size // 2, size))
        target = path if self.is_inside else f"http://{self.authority}{path}"
        head = f"POST {target} HTTP/1.1\r\nHost: {self.authority}\r\n".encode()
        if path != "/comes" and self.random.random() < 0.5:
            pieces, at = b"", 0
            while at < len(body):
                part = body[at:at + self.random.choice([1, 100, 3000, 70000])]
                pieces += chunk(part)
                at += len(part)
            return head + b"Transfer-Encoding: chunked\r\n\r\n" + pieces + b"0\r\n\r\n", body
        return head + b"Content-Length: %d\r\n\r\n" % len(body) + body, body

    def talk(self):
        paths = [self.random.choice(["/comes", "/end"]) for _ in range(self.random.randint(1, 4))]
        if self.random.random() < 0.3:
            paths[-1] = "/close"
        if "/comes" in paths:  # an answer before the request's end closes the connection
            paths = paths[:paths.index("/comes") + 1]
        requests = [self.request(path) for path in paths]
        data, pieces = b"".join(raw for raw, _ in requests), []
        while data:
            size = self.random.choice([1, 50, 1400, 16384, 66000])
            pieces.append(data[:size])
            data = data[size:]
        left = [body for _, body in requests]

        def is_done(received, has_ended):
            while left and (answer := take_answer(received, has_ended)):
                status, body, size = answer
                assert (status, body) == (200, left.pop(0)), f"{paths}, {len(left)} left"
                del received[:size]
            assert not (left and has_ended), f"the connection ended: {paths}, {len(left)} left"
            return not left
        with self.proxy.client(self.agent, seconds=30) as client:
            self.connect(client).run(pieces, is_done)


def run_talkers(world, count, rounds):
    inside, plain = world.tls_origin("a.test"), world.http_origin("h.test")
    for origin in (inside, plain):
        origin.on("/comes", echo_as_it_comes)
        origin.on("/end", echo_at_the_end)
        origin.on("/close", echo_until_closed)
    world.agent("open", allow=["h.test"], request=[{"host": "a.test", "methods": ["*"]}])
    world.agent("scanned", allow=["h.test"], request=[{"host": "a.test", "methods": ["*"]}],
                scan=["tokens"])
    world.agent("metered", allow=["h.test"], bytes_up=1 << 40, bytes_down=1 << 40,
                request=[{"host": "a.test", "methods": ["*"]}])
    proxy = world.start()
    kinds = [(agent, is_inside) for agent in ("open", "scanned", "metered")
             for is_inside in (False, True)]
    talkers = [Talker(world, proxy, seed, *kinds[seed % len(kinds)], rounds)
               for seed in range(count)]
    for talker in talkers:
        talker.start()
    for talker in talkers:
        talker.join(240)
        assert not talker.is_alive()
        if talker.error:
            raise talker.error


def test_bodies_of_many_connections_never_mix(world):
    run_talkers(world, count=12, rounds=3)


@pytest.mark.long
def test_bodies_of_very_many_connections_never_mix(world):
    run_talkers(world, count=60, rounds=30)
