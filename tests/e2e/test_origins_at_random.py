"""Origins that answer too early, too late, twice or not at all: no body ever becomes a request."""

import random
import socket
import struct
import threading

import pytest
from harness.http_origin import response
from test_inside_bodies import CHUNKED, Pump, chunk, take_answer


def misbehave(exchange):
    """The target decides how, so that a run can be repeated. Each answer names its request."""
    request = exchange.request
    chance, length = random.Random(request.target), request.value("content-length")
    size = int(length) if length is not None else 5  # of chunks, as little as there always is
    part = min(size, chance.randint(0, 3000))
    answer = response(request.target.encode())

    def early():
        exchange.send(answer)
        exchange.read_body()
        return True

    def midway():
        exchange.read(part)
        exchange.send(answer)
        return length is not None and len(exchange.read(size - part)) == size - part

    def midway_and_close():
        exchange.read(part)
        exchange.send(answer)
        return False

    def midway_and_reset():
        exchange.read(part)
        exchange.send(answer)
        raw = exchange.conn.sock
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.close()
        return False

    def midway_in_chunks():
        exchange.send(CHUNKED)
        exchange.read(part)
        exchange.send(chunk(request.target.encode()) + b"0\r\n\r\n")
        return False

    def silent():
        exchange.read(part)
        return False

    def as_it_should(before=b"", after=b""):
        exchange.send(before)
        exchange.read_body()
        exchange.send(answer + after)
        return True

    return chance.choice([
        early, midway, midway_and_close, midway_and_reset, midway_in_chunks, silent, as_it_should,
        lambda: as_it_should(before=b"HTTP/1.1 100 Continue\r\n\r\n"),
        lambda: as_it_should(after=response(b"a second answer")),
        lambda: as_it_should(after=b"more than it said")])()


class Sender:
    """Connections with requests whose bodies consist of requests."""

    def __init__(self, world, proxy, seed):
        self.world, self.proxy, self.seed, self.random = world, proxy, seed, random.Random(seed)

    def requests(self, is_inside, names):
        host = "a.test" if is_inside else "h.test"
        authority = f"{host}:{self.world.port if is_inside else self.world.http_port}"
        base = "" if is_inside else f"http://{authority}"
        hidden = f"GET {base}/hidden HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode()
        for name in names:
            body = hidden * self.random.choice([0, 1, 3, 40, 1000])
            head = f"POST {base}{name} HTTP/1.1\r\nHost: {authority}\r\n".encode()
            if self.random.random() < 0.3:
                head += b"Expect: 100-continue\r\n"
            if self.random.random() < 0.5:
                yield head + b"Content-Length: %d\r\n\r\n" % len(body) + body
                continue
            step = self.random.choice([len(hidden), 100, 5000])
            chunks = [chunk(body[at:at + step]) for at in range(0, len(body), step)]
            yield head + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(chunks) + b"0\r\n\r\n"

    def connect(self, client, is_inside):
        if not is_inside:
            return Pump(client.sock)
        assert client.connect_to("a.test", self.world.port).status == 200
        return Pump(client.sock, "a.test", self.proxy.stile_ca)

    def send(self, number):
        is_inside = self.random.random() < 0.5
        names = [f"/{self.seed}-{number}-{i}" for i in range(self.random.randint(1, 4))]
        data, pieces, left = b"".join(self.requests(is_inside, names)), [], list(names)
        while data:
            size = self.random.choice([20, 500, 3000, 60000])
            pieces.append(data[:size])
            data = data[size:]

        def is_done(received, has_ended):
            while left and (answer := take_answer(received, has_ended)):
                status, body, size = answer
                is_last = b"connection: close" in received[:size].lower()
                del received[:size]
                if status == 100:
                    continue
                name = left.pop(0)
                assert status == 502 or (status == 200 and body.decode().endswith(name)), (name, answer)
                if is_last:
                    left.clear()
            return has_ended or not left
        with self.proxy.client(self.random.choice(["open", "scanned"]), seconds=30) as client:
            try:
                self.connect(client, is_inside).run(pieces, is_done)
            except ConnectionError:
                pass  # cut within an answer, or before the rest of a body

    def run(self, connections, problems):
        try:
            for number in range(connections):
                self.send(number)
        except BaseException as error:  # shown by the test
            problems.append(error)


def run_senders(world, seed, count, connections):
    origins = [world.tls_origin("a.test"), world.http_origin("h.test")]
    for origin in origins:
        origin.default = misbehave
    rules = {"allow": ["h.test"], "request": [{"host": "a.test", "methods": ["*"]}],
             "requests_per_second": 100000}
    world.agent("open", **rules)
    world.agent("scanned", **rules, scan=["tokens"])
    proxy, problems = world.start(), []
    threads = [threading.Thread(target=Sender(world, proxy, seed + i).run,
                                args=(connections, problems), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(240)
        assert not thread.is_alive()
    if problems:
        raise problems[0]
    paths = [path for origin in origins for path in origin.paths()]
    assert len(paths) > count and not [path for path in paths if "hidden" in path]


def test_no_body_becomes_a_request(world):
    run_senders(world, seed=1, count=8, connections=20)


@pytest.mark.long
def test_no_body_becomes_a_request_in_the_long_run(world):
    run_senders(world, seed=random.randrange(1 << 30), count=16, connections=300)
