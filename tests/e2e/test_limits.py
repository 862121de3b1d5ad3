"""Limits: what one agent may hold, and that the others do not feel it."""

import resource
import threading
import time

import pytest
from harness.checks import assert_denied, assert_refusal, assert_untouched
from harness.http_origin import response
from harness.origin import echo
from harness.wait import SOON, until


def hello_flood(proxy, agent, count, sends=b""):
    clients = [proxy.client(agent) for _ in range(count)]
    for client in clients:
        client.try_send(sends)
    return clients


def settled(proxy, count):
    """The daemon has taken over that many connections."""
    until(lambda: proxy.metrics().total("stile_connections_open") == count)


# Connections.

@pytest.mark.parametrize("workers", [1, 3])
def test_connection_above_the_agents_limit_is_refused_at_accept(world, workers):
    world.agent("alpha", connections_per_agent=5)
    proxy = world.start(server={"workers": workers})
    held = hello_flood(proxy, "alpha", 5)
    settled(proxy, 5)
    with proxy.client() as client:
        answer = client.read_response("CONNECT")
        assert_refusal(answer, "too-many-connections")
        assert client.is_closed()
    held[0].close()
    settled(proxy, 4)
    assert_refusal(proxy.connect("x.test", world.port), "host-not-allowed")


def test_refused_connections_are_told_in_few_lines_that_count_them(world):
    world.agent("alpha", connections_per_agent=2)
    proxy = world.start(server={"workers": 2})
    hello_flood(proxy, "alpha", 2)
    settled(proxy, 2)
    started = time.monotonic()
    for _ in range(100):
        with proxy.client() as client:
            assert client.read_response("CONNECT").reason == "too-many-connections"
    seconds = time.monotonic() - started

    def counted():
        lines = proxy.audit.entries(event="deny", reason="too-many-connections", agent="alpha")
        return sum(line.get("count", 1) for line in lines) == 100 and lines
    lines = until(counted)
    assert len(lines) <= seconds + 2
    metrics = proxy.metrics()
    assert metrics.total("stile_connections_refused_total", agent="alpha") == 100


def told(proxy, **fields):
    """The number of refusals that the log tells of, whether in a line each or as a `count`."""
    return sum(line.get("count", 1) for line in proxy.audit.entries(event="deny", **fields))


def test_refusals_of_one_agent_are_bounded_in_the_log_and_all_are_counted(world):
    """Long requests to hosts that are not allowed, as fast as they are answered."""
    world.agent("alpha", http_ports=[80], requests_per_second=0)
    world.agent("beta")
    proxy = world.start(server={"workers": 2})
    request = b"%s http://evil.test/%s HTTP/1.1\r\nHost: evil.test\r\n\r\n" % (
        b"M" * 100, b"p" * 900)
    total, batch = 6000, 50
    with proxy.client() as client:
        for _ in range(total // batch):
            client.send(request * batch)
            for _ in range(batch):
                assert_refusal(client.read_response(), "host-not-allowed")
    assert until(lambda: told(proxy, agent="alpha") == total)
    lines = proxy.audit.entries(event="deny", agent="alpha")
    assert len(lines) < 1500, "each refusal has a line of its own"
    single = [line for line in lines if "count" not in line]
    assert {line["method"] for line in single} == {"M" * 32}
    assert {line["path"] for line in single} == {"/" + "p" * 255}
    assert proxy.audit.path.stat().st_size < 1 << 20
    assert proxy.metrics().total("stile_requests_total", agent="alpha",
                                 reason="host-not-allowed") == total
    # Another agent still has a line for each of its own, before the answer.
    assert_refusal(proxy.connect("x.test", world.port, "beta"), "host-not-allowed")
    assert proxy.audit.only(event="deny", agent="beta")["host"] == "x.test"


def test_refusals_that_were_only_counted_are_in_the_log_when_the_daemon_has_stopped(world):
    world.agent("alpha", requests_per_second=0)
    proxy = world.start()
    total = 2000
    with proxy.client() as client:
        client.send(b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n" * total)
        for _ in range(total):
            client.read_response()
    proxy.stop()
    assert told(proxy, agent="alpha") == total
    assert proxy.audit.entries()[-1]["event"] == "stop"


def test_connections_of_one_agent_do_not_count_for_another(world):
    origin = world.tls_origin("o.test")
    world.agent("alpha", allow=["o.test"], connections_per_agent=2)
    world.agent("beta", allow=["o.test"])
    proxy = world.start()
    hello_flood(proxy, "alpha", 2)
    settled(proxy, 2)
    assert proxy.curl(f"https://o.test:{world.port}/", agent="beta").out == b"ok"
    assert origin.names() == ["o.test"]


def test_tunnel_holds_its_place_until_it_ends(world):
    world.tcp_origin("o.test", handler=echo)
    world.agent("alpha", allow=["o.test"], connections_per_agent=1)
    proxy = world.start()
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    with proxy.client() as second:
        assert_refusal(second.read_response(), "too-many-connections")
    told = proxy.control().do("explain", agent="alpha", host="o.test", port=world.port)
    assert (told["verdict"], told["reason"]) == ("deny", "too-many-connections"), told
    client.close()
    until(lambda: proxy.connect("x.test", world.port).reason == "host-not-allowed")


def test_global_limit_is_overloaded(world):
    world.agent("alpha")
    world.agent("beta")
    proxy = world.start(limits={"connections": 4})
    hello_flood(proxy, "alpha", 4)
    settled(proxy, 4)
    with proxy.client("beta") as client:
        client.try_send(b"CONNECT x.test:1 HTTP/1.1\r\n\r\n")
        answer = client.read_response("CONNECT")
    assert_refusal(answer, "overloaded")
    until(lambda: proxy.audit.entries(event="deny", reason="overloaded"))


# Heads.

HEAD = b"CONNECT o.test:443 HTTP/1.1\r\nHost: o.test\r\n"


@pytest.mark.parametrize("part", [b"C", HEAD, b"\r\n\r\n", HEAD + b"X: "],
                         ids=["one byte", "no end", "empty lines", "half a header"])
def test_head_has_a_time_limit(world, part):
    world.agent("alpha")
    proxy = world.start(limits={"header_timeout_ms": 400})
    started = time.monotonic()
    with proxy.client() as client:
        client.send(part)
        assert_denied(proxy, client.read_response(), "header-timeout")
        assert client.is_closed()
    assert 0.3 < time.monotonic() - started < SOON


def test_silent_connection_is_closed_after_the_heads_time_limit(world):
    world.agent("alpha")
    proxy = world.start(limits={"header_timeout_ms": 400})
    with proxy.client() as client:
        answer = client.read_response()
        assert answer is None or answer.reason == "header-timeout"
        assert client.is_closed()


def test_dribbled_head_does_not_extend_its_time(world):
    world.agent("alpha")
    proxy = world.start(limits={"header_timeout_ms": 500})
    client = proxy.client()
    client.send(HEAD)
    started = time.monotonic()

    def ended():
        client.try_send(b"X: y\r\n")
        return proxy.audit.entries(reason="header-timeout")
    until(ended)
    assert time.monotonic() - started < SOON


def test_time_of_the_next_head_starts_after_the_answer(world):
    origin = world.http_origin("h.test")

    def slow(exchange):
        exchange.conn.release.wait(0.9)
        exchange.send(response())
    origin.default = slow
    world.agent("alpha", allow=["h.test"])
    proxy = world.start(limits={"header_timeout_ms": 600})
    with proxy.client() as client:
        for _ in range(2):
            assert client.get(f"http://h.test:{world.http_port}/").status == 200
        started = time.monotonic()
        client.recv_to_end(5)  # a 408 or nothing, then the end
        assert 0.4 < time.monotonic() - started < SOON


@pytest.mark.parametrize("data", [
    HEAD + b"X: " + b"x" * 5000 + b"\r\n\r\n", b"CONNECT " + b"a" * 5000 + b":443 HTTP/1.1\r\n\r\n",
    HEAD + b"X: y\r\n" * 1000 + b"\r\n", b"\r\n" * 3000, HEAD + b"X: " + b"x" * 5000,
    b"A" * 5000],
    ids=["long header", "long target", "many headers", "empty lines", "no end", "long method"])
def test_head_above_its_limit_is_refused(world, data):
    origin = world.tls_origin("o.test")
    world.agent("alpha", allow=["*"])
    proxy = world.start(limits={"header_bytes": 4096})
    with proxy.client() as client:
        client.try_send(data)
        answer = client.read_response("CONNECT")
        assert answer.reason in ("header-too-large", "bad-request")
        if data != b"A" * 5000:
            assert_denied(proxy, answer, "header-too-large")
        assert client.is_closed()
    assert_untouched(origin)


def test_head_just_below_the_limit_is_read(world):
    world.agent("alpha")
    proxy = world.start(limits={"header_bytes": 4096})
    with proxy.client() as client:
        padding = 4096 - len(HEAD) - len(b"X: \r\n\r\n")
        client.send(HEAD + b"X: " + b"x" * padding + b"\r\n\r\n")
        assert_refusal(client.read_response("CONNECT"), "port-not-allowed")


def test_bytes_after_a_refusal_are_read_for_a_moment_only(world):
    """The client gets its answer even while it is still sending, but cannot send for ever."""
    world.agent("alpha")
    proxy = world.start()
    client = proxy.client()
    client.send(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
    sent = [0]

    def pour():
        while sent[0] < 100_000_000 and client.try_send(bytes(65536)):
            sent[0] += 65536
    thread = threading.Thread(target=pour, daemon=True)
    thread.start()
    assert_refusal(client.read_response(), "bad-request")
    thread.join(10)
    assert not thread.is_alive() and sent[0] < 50_000_000


# Fairness.

class Errors:
    """Requests of a second agent while the first one misbehaves."""

    def __init__(self, proxy, world, agent="beta", count=40):
        self.failed, times = 0, []
        for number in range(count):
            started = time.monotonic()
            tls = proxy.tunnel("o.test", world.port, agent)
            tls.start_tls("o.test", proxy.ca_file)
            tls.send(b"GET /t HTTP/1.1\r\nHost: o.test\r\nConnection: close\r\n\r\n")
            good = tls.read_response().body == b"ok"
            tls.close()
            answer = proxy.get(f"http://h.test:{world.http_port}/{number}", agent=agent)
            good = good and answer.body == b"ok"
            self.failed += not good
            times.append(time.monotonic() - started)
        self.typical = sorted(times)[count // 2]  # not the slowest: the machine may be busy


@pytest.fixture
def two(world):
    world.tls_origin("o.test")
    world.http_origin("h.test")
    world.agent("alpha", allow=["*"], connections_per_agent=200)
    world.agent("beta", allow=["o.test", "h.test"])
    return world


@pytest.mark.parametrize("part", [b"", b"GET http://h.te", HEAD],
                         ids=["silent", "half a line", "head without end"])
def test_slow_heads_of_one_agent_cost_another_nothing(two, part):
    proxy = two.start()
    hello_flood(proxy, "alpha", 190, part)
    settled(proxy, 190)
    errors = Errors(proxy, two)
    assert errors.failed == 0
    assert errors.typical < 1


def test_slow_hellos_of_one_agent_cost_another_nothing(two):
    two.tcp_origin("q.test")
    proxy = two.start()
    for _ in range(60):
        proxy.tunnel("q.test", two.port, "alpha").send(b"\x16\x03\x01\x02")
    errors = Errors(proxy, two)
    assert errors.failed == 0
    assert errors.typical < 1


def test_flood_of_refused_requests_costs_another_nothing(two):
    proxy = two.start(server={"workers": 2})
    stop = threading.Event()

    def flood():
        while not stop.is_set():
            try:
                with proxy.client("alpha", seconds=5) as client:
                    client.send(b"CONNECT 1.2.3.4:443 HTTP/1.1\r\n\r\n" * 20)
                    client.recv_to_end()
            except OSError:
                continue
    threads = [threading.Thread(target=flood, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    errors = Errors(proxy, two)
    stop.set()
    for thread in threads:
        thread.join(10)
    assert errors.failed == 0


def test_answers_that_one_agent_never_reads_cost_another_nothing(two):
    pouring = two.http_origin("p.test")

    def pours(exchange):
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n")
        while not exchange.conn.release.is_set():
            exchange.send(bytes(1 << 20))
    pouring.default = pours
    proxy = two.start()
    before = proxy.resident_bytes()
    url = f"http://p.test:{two.http_port}"
    request = f"GET {url}/ HTTP/1.1\r\nHost: {url[7:]}\r\n\r\n".encode()
    hello_flood(proxy, "alpha", 20, request)
    until(lambda: len(pouring.requests) == 20)
    errors = Errors(proxy, two)
    assert errors.failed == 0
    assert proxy.resident_bytes() - before < 64 << 20
    for conn in pouring.connections:
        conn.release.set()


def test_pipelined_flood_without_reading_is_bounded(two):
    """Refusals are answers too: the proxy holds no more than a few for a client."""
    proxy = two.start()
    before = proxy.resident_bytes()
    client = proxy.client("alpha")
    client.sock.settimeout(2)
    request = b"GET http://evil.test:1/ HTTP/1.1\r\nHost: evil.test:1\r\n\r\n" * 500
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and client.try_send(request):
        pass
    assert proxy.resident_bytes() - before < 32 << 20
    assert Errors(proxy, two, count=5).failed == 0


# Rate.

def test_requests_above_the_rate_are_slowed_down_not_refused(world):
    world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"], requests_per_second=20)
    world.agent("beta", allow=["h.test"])
    proxy = world.start()
    url = f"http://h.test:{world.http_port}/"
    started = time.monotonic()
    with proxy.client() as client:
        assert [client.get(url).status for _ in range(60)] == [200] * 60
    assert time.monotonic() - started > 1.0
    started = time.monotonic()
    with proxy.client("beta") as client:
        assert [client.get(url).status for _ in range(60)] == [200] * 60
    assert time.monotonic() - started < SOON
    assert proxy.audit.entries(event="deny") == []


def test_rate_counts_all_connections_of_the_agent(world):
    world.agent("alpha", requests_per_second=20)
    proxy = world.start(server={"workers": 2})
    started = time.monotonic()
    for _ in range(60):
        assert_refusal(proxy.connect("x.test", world.port), "host-not-allowed")
    assert time.monotonic() - started > 1.0


# Resources.

def test_nothing_is_left_of_connections_that_ended(world):
    world.tcp_origin("o.test", handler=echo)
    world.http_origin("h.test")
    world.agent("alpha", allow=["o.test", "h.test"])
    proxy = world.start()
    url = f"http://h.test:{world.http_port}/"

    def mixed():
        client = proxy.open_tunnel("o.test", world.port)
        client.recv_exactly(len(client.hello))
        client.close()
        proxy.open_tunnel("o.test", world.port).reset()
        proxy.tunnel("o.test", world.port).close()
        proxy.get(url)
        proxy.connect("x.test", world.port)
        proxy.client().reset()
    for _ in range(10):
        mixed()
    settled(proxy, 0)
    files = proxy.open_files()
    for _ in range(40):
        mixed()
    settled(proxy, 0)
    until(lambda: proxy.open_files() <= files + 8)
    assert proxy.metrics().total("stile_tunnels_open") == 0


def test_running_out_of_files_is_survived(world):
    world.tls_origin("o.test")
    world.agent("alpha", allow=["o.test"])
    proxy = world.proxy()
    proxy.start(preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)))
    clients = []
    for _ in range(150):
        client = proxy.client(seconds=1)
        client.try_send(HEAD)
        clients.append(client)
    until(lambda: proxy.open_files() > 80)
    for client in clients:
        client.close()
    until(lambda: proxy.curl(f"https://o.test:{world.port}/").out == b"ok")
    assert len(proxy.log_text()) < 20000, "it says so once, not a million times"
