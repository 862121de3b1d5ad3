"""Bodies stream in both directions, are framed anew, and never gather in the proxy."""

import os
import threading
import time

import pytest
from harness.checks import assert_refusal, assert_untouched
from harness.http_origin import reply, response
from harness.wait import SOON, steady, until

pytestmark = pytest.mark.hostile_bytes

MIB = 1 << 20


@pytest.fixture
def http(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    return world.start(), origin, f"http://h.test:{world.http_port}"


def head(base, method="POST", *lines):
    authority = base.split("//")[1]
    text = [f"{method} {base}/ HTTP/1.1", f"Host: {authority}", *lines]
    return "\r\n".join(text).encode() + b"\r\n\r\n"


# Up.

@pytest.mark.parametrize("size", [0, 1, 1000, 70000, 3 * MIB])
def test_body_with_a_length_arrives_whole(http, size):
    proxy, origin, base = http
    body = os.urandom(size)
    assert proxy.get(base + "/", method="POST", body=body).status == 200
    assert origin.requests[0].body == body
    assert origin.requests[0].value("content-length") == str(size)
    assert "transfer-encoding" not in origin.requests[0].names()


CHUNKED = [
    (b"0\r\n\r\n", b""),
    (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
    (b"1\r\na\r\n2\r\nbc\r\nA\r\n0123456789\r\n0\r\n\r\n", b"abc0123456789"),
    (b"a\r\n0123456789\r\n00\r\n\r\n", b"0123456789"),
    (b"5;name=value\r\nhello\r\n0;x\r\n\r\n", b"hello"),
    (b"0005\r\nhello\r\n0\r\n\r\n", b"hello"),
    (b"5\r\nhello\r\n0\r\nX-Trailer: 1\r\nAuthorization: hunter2\r\n\r\n", b"hello"),
]


@pytest.mark.parametrize("raw, body", CHUNKED)
def test_chunked_body_is_framed_anew(http, raw, body):
    proxy, origin, base = http
    with proxy.client() as client:
        client.send(head(base, "POST", "Transfer-Encoding: chunked") + raw)
        assert client.read_response().body == b"ok"
        assert client.get(base + "/next").body == b"ok", "the connection is in step"
    request = origin.requests[0]
    assert (request.body, request.complete) == (body, True)
    assert request.trailers == b""
    assert b"hunter2" not in origin.received and b"name=value" not in origin.received
    assert request.value("transfer-encoding") == "chunked"
    assert "content-length" not in request.names()


def test_chunked_body_split_at_every_byte(http):
    proxy, origin, base = http
    raw = head(base, "POST", "Transfer-Encoding: chunked")
    raw += b"3\r\nabc\r\n4;e\r\ndefg\r\n0\r\nT: 1\r\n\r\n"
    with proxy.client() as client:
        client.send_split(raw, *range(1, len(raw)))
        assert client.read_response().body == b"ok"
    assert origin.requests[0].body == b"abcdefg"


BAD_CHUNKS = {
    "no number": b"\r\nhello\r\n0\r\n\r\n",
    "minus": b"-5\r\nhello\r\n0\r\n\r\n",
    "plus": b"+5\r\nhello\r\n0\r\n\r\n",
    "0x": b"0x5\r\nhello\r\n0\r\n\r\n",
    "blank before": b" 5\r\nhello\r\n0\r\n\r\n",
    "letters": b"xyz\r\nhello\r\n0\r\n\r\n",
    "overflow": b"10000000000000005\r\nhello\r\n0\r\n\r\n",
    "huge": b"ffffffffffffffff\r\nhello\r\n0\r\n\r\n",
    "bare LF": b"5\nhello\n0\n\n",
    "bare LF after size": b"5\nhello\r\n0\r\n\r\n",
    "bare CR after size": b"5\rhello\r\n0\r\n\r\n",
    "data too long": b"5\r\nhelloX\r\n0\r\n\r\n",
    "data without CRLF": b"5\r\nhello0\r\n\r\n",
    "LF after data": b"5\r\nhello\n0\r\n\r\n",
    "NUL in extension": b"5;\0\r\nhello\r\n0\r\n\r\n",
    "LF in extension": b"5;a\nb\r\nhello\r\n0\r\n\r\n",
    "CR in extension": b"5;a\rb\r\nhello\r\n0\r\n\r\n",
    "endless extension": b"5;" + b"x" * 8192 + b"\r\nhello\r\n0\r\n\r\n",
    "endless zeros": b"0" * 8192 + b"5\r\nhello\r\n0\r\n\r\n",
    "bad trailer": b"5\r\nhello\r\n0\r\nbad trailer\r\n\r\n",
    "trailer with bare LF": b"5\r\nhello\r\n0\r\nA: b\nC: d\r\n\r\n",
    "folded trailer": b"5\r\nhello\r\n0\r\nA: b\r\n c\r\n\r\n",
}


@pytest.mark.parametrize("name", BAD_CHUNKS)
def test_bad_chunk_ends_the_request(http, name):
    """What was good before it may have gone out; the rest never, and never as a second request."""
    proxy, origin, base = http
    smuggled = head(base, "GET").replace(b"/ HTTP", b"/smuggled HTTP")
    with proxy.client() as client:
        client.send(head(base, "POST", "Transfer-Encoding: chunked"))
        client.try_send(BAD_CHUNKS[name] + smuggled)
        answer = client.read_response()
        assert answer is None or answer.status == 400, answer
        assert client.recv_to_end() == b""
    until(lambda: all(conn.closed.is_set() for conn in origin.connections))
    assert "/smuggled" not in origin.paths()
    for request in origin.requests:
        assert not request.complete, "the origin must not take the request for whole"
    ends = [line for line in proxy.audit.entries() if line.get("reason") == "bad-request"]
    assert len(ends) == 1, proxy.audit.tail()


def test_endless_trailers_end_the_request(http):
    proxy, origin, base = http
    with proxy.client() as client:
        client.send(head(base, "POST", "Transfer-Encoding: chunked") + b"1\r\nx\r\n0\r\n")
        until(lambda: not client.try_send(b"X-T: " + b"t" * 1000 + b"\r\n"), 20)
    until(lambda: all(conn.closed.is_set() for conn in origin.connections))
    assert b"X-T" not in origin.received


def test_upload_that_is_cut_is_logged_with_all_that_went_out(http):
    """Also what was written of a piece of which the origin did not take the rest."""
    proxy, origin, base = http

    def stall(exchange):
        exchange.conn.release.wait(20)
        exchange.conn.recv_to_end()
        return False
    origin.on("/", stall)
    sent = 0
    with proxy.client() as client:
        client.send(head(base, "POST", f"Content-Length: {1 << 40}"))
        conn = origin.wait_connection()
        client.sock.setblocking(False)

        def fill():
            nonlocal sent
            try:
                sent += client.sock.send(bytes(MIB))
            except BlockingIOError:
                pass
            return sent
        steady(fill)
        for _ in range(4):
            conn.recv(3 * MIB // 2)  # room for some more, and hardly for whole pieces
            steady(fill)
        client.reset()
    line = proxy.audit.wait_one(event="close", host="h.test")
    conn.release.set()
    assert conn.closed.wait(10)
    assert line["bytes_up"] == len(conn.received) > MIB


def test_client_that_leaves_within_its_body_leaves_the_request_unfinished(http):
    proxy, origin, base = http
    for lines, part in [("Content-Length: 100", b"half"),
                        ("Transfer-Encoding: chunked", b"64\r\nhalf")]:
        number = len(origin.connections)
        with proxy.client() as client:
            client.send(head(base, "POST", lines) + part)
            origin.wait_connection(number)
        assert origin.connections[number].closed.wait(10)
        assert not origin.requests[-1].complete


def test_upload_waits_for_an_origin_that_does_not_read(world):
    def never_reads(conn):
        conn.recv(100)
        conn.release.wait(30)
    origin = world.tcp_origin("h.test", port=world.http_port, handler=never_reads)
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    base = f"http://h.test:{world.http_port}"
    before = proxy.resident_bytes()
    client = proxy.client()
    client.send(head(base, "POST", f"Content-Length: {1024 * MIB}"))
    sent = [0]

    def pour():
        block = bytes(MIB)
        while client.try_send(block):
            sent[0] += MIB
    thread = threading.Thread(target=pour, daemon=True)
    thread.start()
    assert steady(lambda: sent[0]) < 64 * MIB
    assert proxy.resident_bytes() - before < 32 * MIB
    client.reset()
    origin.connections[0].release.set()
    thread.join(5)


# 100-continue.

def test_expect_continue_waits_for_the_origin(http):
    proxy, origin, base = http

    def responder(exchange):
        exchange.conn.release.wait(5)
        exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = exchange.read_body()
        exchange.send(response(body))
    origin.default = responder
    with proxy.client() as client:
        client.send(head(base, "POST", "Expect: 100-continue", "Content-Length: 5"))
        conn = origin.wait_connection()
        until(lambda: origin.requests)
        conn.release.set()
        status = client.read_head()[0]
        assert status == 100
        client.send(b"hello")
        assert client.read_response().body == b"hello"


def test_curl_upload_with_expect(http):
    proxy, origin, base = http
    def responder(exchange):
        exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        exchange.send(response(str(len(exchange.read_body())).encode()))
    origin.default = responder
    run = proxy.curl("-H", "Expect: 100-continue", "--data-binary", "@-", base + "/",
                     data=bytes(MIB))
    assert run.out == str(MIB).encode(), run.err


def test_final_answer_instead_of_continue(http):
    proxy, origin, base = http

    def responder(exchange):
        exchange.send(response(b"", "417 Expectation Failed", ["Connection: close"]))
        return False
    origin.default = responder
    with proxy.client() as client:
        client.send(head(base, "POST", "Expect: 100-continue", "Content-Length: 5"))
        assert client.read_response().status == 417


@pytest.mark.parametrize("value", ["200-ok", "100-continue, x", "100-continue=1", "", "x"])
def test_other_expectation_is_refused(http, value):
    proxy, origin, base = http
    with proxy.client() as client:
        client.send(head(base, "POST", f"Expect: {value}", "Content-Length: 0"))
        assert_refusal(client.read_response(), "bad-request")
    assert_untouched(origin)


def test_early_answer_to_an_upload_reaches_the_client(http):
    proxy, origin, base = http

    def responder(exchange):
        exchange.send(response(b"too large", "413 Payload Too Large", ["Connection: close"]))
        return False
    origin.default = responder
    with proxy.client() as client:
        client.send(head(base, "POST", f"Content-Length: {50 * MIB}"))
        client.send(b"x" * 1000)
        answer = client.read_response()
        assert (answer.status, answer.body) == (413, b"too large")


def test_answer_of_an_origin_that_resets_within_the_upload_ends_the_connection(world):
    """Stile notices that it cannot send on before it has read the answer."""
    origin, other = world.http_origin("h.test"), world.http_origin("other.test")
    answering = threading.Event()

    def answer_and_reset(exchange):
        exchange.read(100)
        exchange.request.extra["read"] = True
        answering.wait(SOON)
        exchange.send(response(b"no more", "413 Content Too Large"))
        exchange.conn.reset()
    origin.on("/", answer_and_reset)
    world.agent("alpha", allow=["h.test", "other.test"])
    proxy = world.start()
    hidden = (f"GET http://other.test:{world.http_port}/hidden HTTP/1.1\r\n"
              f"Host: other.test:{world.http_port}\r\n\r\n").encode()
    with proxy.client() as client:
        client.send(head(f"http://h.test:{world.http_port}", "POST", "Content-Length: 1000")
                    + b"x" * 100)
        until(lambda: origin.requests and origin.requests[0].extra.get("read"))
        with proxy.stopped():  # it sees all of the following at once, the client's bytes first
            client.send(b"y" * 100)
            answering.set()
            until(origin.connections[0].closed.is_set)
        answer = client.read_response()
        assert (answer.status, answer.body) == (413, b"no more")
        client.try_send(hidden + b"z" * (800 - len(hidden)))
        assert client.recv_to_end() == b"", "the rest of the body is no request"
    assert_untouched(other)


# Down.

def test_body_with_a_length_comes_back_whole(http):
    proxy, origin, base = http
    body = os.urandom(5 * MIB)
    origin.default = reply(response(body))
    answer = proxy.get(base + "/")
    assert answer.body == body and answer.complete


def test_chunked_body_comes_back_whole(http):
    proxy, origin, base = http
    origin.default = reply(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                           b"5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: t\r\n\r\n")
    with proxy.client() as client:
        answer = client.get(base + "/")
        assert (answer.body, answer.complete) == (b"hello world", True)
        assert client.get(base + "/").body == b"hello world"


def test_body_up_to_the_end_of_the_connection(http):
    proxy, origin, base = http
    origin.default = reply(b"HTTP/1.1 200 OK\r\n\r\nuntil the end", close=True)
    answer = proxy.get(base + "/")
    assert (answer.body, answer.complete) == (b"until the end", True)


def test_http_1_0_client_gets_no_chunks(http):
    proxy, origin, base = http
    origin.default = reply(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                           b"5\r\nhello\r\n0\r\n\r\n")
    with proxy.client() as client:
        client.send(f"GET {base}/ HTTP/1.0\r\n\r\n".encode())
        answer = client.read_response()
    assert answer.body == b"hello"
    assert answer.value("transfer-encoding") is None


def test_answer_of_a_1_0_origin(http):
    proxy, origin, base = http
    origin.default = reply(b"HTTP/1.0 200 OK\r\n\r\nold", close=True)
    assert proxy.get(base + "/").body == b"old"


def test_answer_trickles_through_as_it_comes(http):
    """No gathering: the first bytes reach the client while the origin still holds the rest."""
    proxy, origin, base = http

    def responder(exchange):
        exchange.read_body()
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        exchange.conn.release.wait(10)
        exchange.send(b"later")
    origin.default = responder
    with proxy.client() as client:
        client.send(head(base, "GET"))
        assert client.read_head()[0] == 200
        assert client.recv_exactly(5) == b"first"
        origin.connections[0].release.set()
        assert client.recv_exactly(5) == b"later"


def test_large_download_to_a_client_that_does_not_read_takes_no_memory(http):
    proxy, origin, base = http
    sent = [0]

    def responder(exchange):
        exchange.read_body()
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (1024 * MIB))
        while not exchange.conn.release.is_set():
            exchange.send(bytes(MIB))
            sent[0] += MIB
    origin.default = responder
    before = proxy.resident_bytes()
    client = proxy.client()
    client.send(head(base, "GET"))
    assert 0 < steady(lambda: sent[0]) < 64 * MIB
    assert proxy.resident_bytes() - before < 32 * MIB
    origin.connections[0].release.set()
    client.reset()


def test_streaming_a_lot_leaves_memory_flat(http):
    proxy, origin, base = http
    block, count = bytes(MIB), 200

    def responder(exchange):
        exchange.read_body()
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(count):
            exchange.send(b"100000\r\n", block, b"\r\n")
        exchange.send(b"0\r\n\r\n")
    origin.default = responder
    before = proxy.resident_bytes()
    with proxy.client() as client:
        client.send(head(base, "GET"))
        assert client.read_head()[0] == 200
        got, peak = 0, 0
        while got < count * MIB:
            got += len(client.recv(MIB))
            peak = max(peak, proxy.resident_bytes())
    assert peak - before < 32 * MIB


@pytest.mark.parametrize("status, method", [("204 No Content", "GET"), ("304 Not Modified", "GET"),
                                            ("200 OK", "HEAD"), ("404 Not Found", "HEAD")])
def test_answer_without_a_body_leaves_the_connection_in_step(http, status, method):
    proxy, origin, base = http
    length = "" if status.startswith("204") else "Content-Length: 1000\r\n"
    origin.on("/none", f"HTTP/1.1 {status}\r\n{length}\r\n".encode())
    with proxy.client() as client:
        answer = client.get(base + "/none", method=method)
        assert answer.status == int(status[:3])
        assert client.get(base + "/next").body == b"ok"
    assert origin.paths() == ["/none", "/next"]


def test_exchange_in_which_nothing_moves_is_ended(world):
    origin = world.tcp_origin("h.test", port=world.http_port)
    world.agent("alpha", allow=["h.test"])
    proxy = world.start(limits={"idle_timeout_ms": 500})
    started = time.monotonic()
    answer = proxy.get(f"http://h.test:{world.http_port}/")
    assert answer.status == 504 and answer.reason in ("origin-timeout", "idle-timeout")
    assert 0.4 < time.monotonic() - started < SOON
    origin.connections[0].wait_ended()
