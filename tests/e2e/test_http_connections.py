"""Kept connections: each request decided anew, answers in order, origins never shared."""

import threading

import pytest
from harness.checks import assert_refusal, assert_untouched
from harness.http_origin import reply, response
from harness.wait import until

pytestmark = pytest.mark.hostile_bytes


def request(host, port, path="/", extra=""):
    return f"GET http://{host}:{port}{path} HTTP/1.1\r\nHost: {host}:{port}\r\n{extra}\r\n".encode()


def test_connection_is_kept_for_several_requests(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    with proxy.client() as client:
        for number in range(10):
            assert client.get(f"http://h.test:{world.http_port}/{number}").body == b"ok"
    assert origin.paths() == [f"/{number}" for number in range(10)]
    assert len(origin.connections) == 1, "the origin's connection is kept too"
    assert len(proxy.audit.entries(event="open")) == 10
    assert len(proxy.audit.wait_count(10, event="close")) == 10


def test_each_request_on_a_connection_is_decided_anew(world):
    good, other = world.http_origin("good.test"), world.http_origin("other.test")
    evil = world.http_origin("evil.test")
    world.agent("alpha", allow=["good.test", "other.test"])
    proxy = world.start()
    port = world.http_port
    with proxy.client() as client:
        assert client.get(f"http://good.test:{port}/1").status == 200
        assert client.get(f"http://other.test:{port}/2").status == 200
        assert client.get(f"http://good.test:{port}/3").status == 200
        assert_refusal(client.get(f"http://evil.test:{port}/4"), "host-not-allowed")
    assert good.paths() == ["/1", "/3"]
    assert other.paths() == ["/2"]
    assert_untouched(evil)
    lines = proxy.audit.entries(event={"open", "deny"})
    assert [line["event"] for line in lines] == ["open", "open", "open", "deny"]


def test_refused_request_does_not_take_the_following_with_it(world):
    """After a refusal the connection either ends or goes on cleanly; it never mixes things up."""
    good, evil = world.http_origin("good.test"), world.http_origin("evil.test")
    world.agent("alpha", allow=["good.test"])
    proxy = world.start()
    port = world.http_port
    with proxy.client() as client:
        client.send(request("evil.test", port, "/1") + request("good.test", port, "/2"))
        assert_refusal(client.read_response(), "host-not-allowed")
        second = client.read_response()
        assert second is None or second.body == b"ok"
    assert good.paths() == (["/2"] if second else [])
    assert_untouched(evil)


def test_body_of_a_refused_request_is_not_a_request(world):
    good, evil = world.http_origin("good.test"), world.http_origin("evil.test")
    world.agent("alpha", allow=["good.test"])
    proxy = world.start()
    port = world.http_port
    inner = request("good.test", port, "/smuggled")
    with proxy.client() as client:
        client.send(f"POST http://evil.test:{port}/ HTTP/1.1\r\nHost: evil.test:{port}\r\n"
                    f"Content-Length: {len(inner)}\r\n\r\n".encode() + inner)
        assert_refusal(client.read_response(), "host-not-allowed")
        assert client.read_response() is None
    assert_untouched(good, evil)


def test_pipelined_requests_are_answered_in_order(world):
    origin = world.http_origin("a.test")
    fast = world.http_origin("b.test", body=b"fast")
    gate = threading.Event()

    def slow(exchange):
        exchange.read_body()
        gate.wait(5)
        exchange.send(response(b"slow"))
    origin.on("/slow", slow)
    world.agent("alpha", allow=["a.test", "b.test"])
    proxy = world.start()
    port = world.http_port
    with proxy.client() as client:
        client.send(request("a.test", port, "/slow") + request("b.test", port)
                    + request("a.test", port, "/x"))
        until(lambda: "/slow" in origin.paths())
        gate.set()
        assert [client.read_response().body for _ in range(3)] == [b"slow", b"fast", b"ok"]
    assert len(fast.requests) == 1


def test_pipelined_requests_in_one_byte_segments(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    data = b"".join(request("h.test", world.http_port, f"/{n}") for n in range(3))
    with proxy.client() as client:
        client.send_split(data, *range(1, len(data)))
        assert [client.read_response().body for _ in range(3)] == [b"ok"] * 3
    assert origin.paths() == ["/0", "/1", "/2"]


def test_many_pipelined_requests(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    with proxy.client() as client:
        client.send(b"".join(request("h.test", world.http_port, f"/{n}") for n in range(200)))
        assert [client.read_response().body for _ in range(200)] == [b"ok"] * 200
    assert origin.paths() == [f"/{n}" for n in range(200)]


def test_empty_lines_before_a_request_are_skipped(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    with proxy.client() as client:
        for _ in range(2):
            client.send(b"\r\n\r\n" + request("h.test", world.http_port))
            assert client.read_response().body == b"ok"
    assert len(origin.requests) == 2


def test_connect_after_a_request_on_the_same_connection(world):
    plain, origin = world.http_origin("h.test"), world.tls_origin("o.test")
    world.agent("alpha", allow=["h.test", "o.test"])
    proxy = world.start()
    with proxy.client() as client:
        assert client.get(f"http://h.test:{world.http_port}/").status == 200
        assert client.connect_to("o.test", world.port).status == 200
        client.start_tls("o.test", proxy.ca_file)
        client.send(b"GET /in HTTP/1.1\r\nHost: o.test\r\n\r\n")
        assert client.read_response().body == b"ok"
    assert (plain.paths(), origin.paths()) == (["/"], ["/in"])


def test_bytes_after_connect_belong_to_the_tunnel(world):
    """A request in the same segment as CONNECT is tunnel data, not a request to the proxy."""
    origin, plain = world.tcp_origin("o.test"), world.http_origin("h.test")
    world.agent("alpha", allow=["o.test", "h.test"])
    proxy = world.start()
    with proxy.client() as client:
        client.send(f"CONNECT o.test:{world.port} HTTP/1.1\r\n\r\n".encode()
                    + request("h.test", world.http_port))
        assert client.read_response("CONNECT").status == 200
        client.recv_to_end()
    assert_untouched(plain)
    assert origin.received == b""
    assert proxy.audit.only(event="deny")["reason"] == "not-tls"


def test_bytes_after_a_refused_connect_are_not_a_request(world):
    plain = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    with proxy.client() as client:
        client.send(f"CONNECT evil.test:{world.port} HTTP/1.1\r\n\r\n".encode()
                    + request("h.test", world.http_port))
        assert_refusal(client.read_response("CONNECT"), "host-not-allowed")
        assert client.read_response() is None, "the connection ends"
    assert_untouched(plain)


def test_client_that_wants_to_close_is_closed(world):
    world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    for header in ("Connection: close", "Proxy-Connection: close"):
        with proxy.client() as client:
            answer = client.get(f"http://h.test:{world.http_port}/", headers=[header])
            assert answer.body == b"ok"
            if header.startswith("Connection"):
                assert client.is_closed(5)


def test_http_1_0_client_is_closed_unless_it_asks_to_be_kept(world):
    world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    with proxy.client() as client:
        client.send(f"GET http://h.test:{world.http_port}/ HTTP/1.0\r\n\r\n".encode())
        assert client.read_response().body == b"ok"
        assert client.is_closed(5)


def test_half_closed_client_gets_its_answers(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    with proxy.client() as client:
        for path in ("/1", "/2"):
            client.send(request("h.test", world.http_port, path))
        client.half_close()
        assert [client.read_response().body for _ in range(2)] == [b"ok", b"ok"]
        assert client.is_closed(5)
    assert origin.paths() == ["/1", "/2"]


def test_connection_to_an_origin_is_never_shared_between_agents(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    world.agent("beta", allow=["h.test"])
    proxy = world.start()
    for number in range(4):
        for agent in ("alpha", "beta"):
            proxy.get(f"http://h.test:{world.http_port}/{agent}{number}", agent=agent)
    users = {}
    for entry in origin.requests:
        users.setdefault(id(entry.extra["conn"]), set()).add(entry.target[1:-1])
    assert all(len(agents) == 1 for agents in users.values()), users


def test_connection_that_the_origin_closed_is_replaced(world):
    """The origin ends its kept connection between two requests; the second one still works."""
    origin = world.http_origin("h.test")
    origin.on("/1", reply(response(b"one"), close=True))
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    with proxy.client() as client:
        assert client.get(f"http://h.test:{world.http_port}/1").body == b"one"
        origin.connections[0].closed.wait(5)
        assert client.get(f"http://h.test:{world.http_port}/2").body == b"ok"
    assert len(origin.connections) == 2


def test_request_that_a_kept_connection_took_with_it_goes_to_the_address_of_its_line(world):
    """The names are new by then, but the line that lets it out was written for this address."""
    origin, other = world.http_origin("h.test", ttl=0), world.http_origin()
    world.open_address(other.address)

    def answer_on_a_new_connection(exchange):
        is_new = len([r for r in origin.requests if r.extra["conn"] is exchange.conn]) == 1
        return is_new and reply(response(b"ok"))(exchange)
    origin.default = answer_on_a_new_connection
    origin.on("/new", response(b"ok", headers=["Connection: close"]))
    world.agent("alpha", allow=["h.test"])
    world.agent("beta", allow=["h.test"])  # has no connection to go on with, so it looks up
    proxy = world.start()
    with proxy.client() as client:
        assert client.get(f"http://h.test:{world.http_port}/1").body == b"ok"
        world.dns.host("h.test", other.address)
        until(lambda: proxy.get(f"http://h.test:{world.http_port}/new", "beta") and other.requests)
        assert client.get(f"http://h.test:{world.http_port}/2").body == b"ok"
    assert [path for path in origin.paths() if path != "/new"] == ["/1", "/2", "/2"]
    assert "/2" not in other.paths()
    closed = proxy.audit.wait_one(event="close", path="/2")
    for line in (closed, proxy.audit.only(event="open", path="/2")):
        assert line["origin"] == f"{origin.address}:{world.http_port}"


def test_kept_connection_is_not_used_for_another_host_on_the_same_address(world):
    """Each request is resolved and checked for its own name, also where the address is the same."""
    origin = world.http_origin("a.test")
    world.dns.host("b.test", origin.address)
    world.agent("alpha", allow=["a.test", "b.test"])
    proxy = world.start()
    with proxy.client() as client:
        for host in ("a.test", "b.test", "a.test"):
            assert client.get(f"http://{host}:{world.http_port}/").status == 200
    by_conn = {}
    for entry in origin.requests:
        by_conn.setdefault(id(entry.extra["conn"]), set()).add(entry.value("host"))
    assert all(len(hosts) == 1 for hosts in by_conn.values())


def test_client_that_resets_while_the_origin_thinks_frees_its_place(world):
    origin = world.http_origin("h.test")
    gate = threading.Event()

    def silent(exchange):
        gate.wait(60)
        return False
    origin.on("/slow", silent)
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    client = proxy.client()
    client.send(request("h.test", world.http_port, "/slow"))
    until(lambda: "/slow" in origin.paths(), 20)
    client.reset()
    try:
        until(lambda: proxy.metrics().total("stile_connections_open") == 0, 30, "the place")
        assert len(proxy.audit.wait_count(1, event="close")) == 1
    finally:
        gate.set()
