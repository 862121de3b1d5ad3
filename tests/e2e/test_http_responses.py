"""Origins that lie: bad framing never reaches the client as an answer of its own."""

import pytest
from harness.checks import assert_refusal
from harness.http_origin import reply, response
from harness.wait import until

pytestmark = pytest.mark.hostile_bytes

SECOND = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nSPLIT"


@pytest.fixture
def http(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    return world.start(), origin, f"http://h.test:{world.http_port}"


def head(*lines, status="200 OK"):
    return "\r\n".join([f"HTTP/1.1 {status}", *lines]).encode("latin-1") + b"\r\n\r\n"


# Heads that cannot be believed: 502 and nothing of them.
BAD_HEADS = {
    "length and chunked": head("Content-Length: 5", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
    "chunked and length": head("Transfer-Encoding: chunked", "Content-Length: 5") + b"hello",
    "two lengths that differ": head("Content-Length: 5", "Content-Length: 6") + b"hello!",
    "list of lengths": head("Content-Length: 5, 6") + b"hello!",
    "signed length": head("Content-Length: +5") + b"hello",
    "negative length": head("Content-Length: -1") + b"hello",
    "hex length": head("Content-Length: 0x5") + b"hello",
    "length with letters": head("Content-Length: 5x") + b"hello",
    "empty length": head("Content-Length:") + b"hello",
    "length beyond 2^64": head("Content-Length: 18446744073709551621") + b"hello",
    "length with a blank": head("Content-Length: 5 5") + b"hello",
    "gzip, then chunked": head("Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n",
    "chunked twice": head("Transfer-Encoding: chunked, chunked") + b"0\r\n\r\n",
    "two transfer encodings": head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")
    + b"0\r\n\r\n",
    "unknown transfer encoding": head("Transfer-Encoding: xchunked") + b"0\r\n\r\n",
    "identity": head("Transfer-Encoding: identity") + b"hello",
    "obs-fold": head("X-A: 1", " folded") + b"",
    "blank before colon": head("Content-Length : 5") + b"hello",
    "no colon": head("nonsense") + b"",
    "empty name": head(": x") + b"",
    "blank in a name": head("X Y: z") + b"",
    "bare LF": b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
    "bare LF in a value": b"HTTP/1.1 200 OK\r\nX: a\nSet-Cookie: b\r\nContent-Length: 0\r\n\r\n",
    "bare CR in a value": b"HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n",
    "NUL in a value": head("X: a\0b", "Content-Length: 0"),
    "status of two digits": b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n",
    "status of four digits": b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
    "status 000": b"HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n",
    "status of letters": b"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n",
    "version 2": b"HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n",
    "version 1.2": b"HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n",
    "HTTP/0.9": b"<html>hello</html>\r\n\r\n",
    "ICY": b"ICY 200 OK\r\n\r\n",
    "binary": b"\x00\x01\x02\x03\r\n\r\n",
    "empty lines first": b"\r\n\r\n" + response(b"x"),
    "only half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "nothing": b"",
    "only an interim answer": b"HTTP/1.1 100 Continue\r\n\r\n",
    "switching protocols": head("Upgrade: websocket", "Connection: Upgrade",
                                status="101 Switching Protocols") + b"raw bytes",
    "h2c": head("Upgrade: h2c", "Connection: Upgrade", status="101 Switching Protocols"),
    "101 after 103": head("Link: x", status="103 Early Hints")
    + head("Upgrade: x", status="101 Switching Protocols"),
    "head above the limit": head("X: " + "x" * 70000, "Content-Length: 0"),
    "many headers": head(*[f"X-{n}: {'y' * 100}" for n in range(1000)], "Content-Length: 0"),
    "endless interim answers": b"HTTP/1.1 102 Processing\r\nX: y\r\n\r\n" * 5000,
}


@pytest.mark.parametrize("name", BAD_HEADS)
def test_bad_head_becomes_502(http, name):
    proxy, origin, base = http
    origin.on("/bad", reply(BAD_HEADS[name], close=True))
    with proxy.client() as client:
        answer = client.get(base + "/bad", headers=["Upgrade: websocket"])
        assert_refusal(answer, "origin-bad-response")
        assert b"SPLIT" not in answer.body
    until(lambda: [line for line in proxy.audit.entries()
                   if line.get("reason") == "origin-bad-response"])


# Bodies that do not keep what their heads promise: the client can see that it is not whole.
BROKEN_BODIES = {
    "length too large": head("Content-Length: 100") + b"hello",
    "chunks not ended": head("Transfer-Encoding: chunked") + b"5\r\nhello\r\n",
    "chunk cut": head("Transfer-Encoding: chunked") + b"ff\r\nhello",
    "no last line": head("Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n",
    "bad chunk size": head("Transfer-Encoding: chunked") + b"5\r\nhello\r\nxyz\r\n" + SECOND,
    "signed chunk size": head("Transfer-Encoding: chunked")
    + b"5\r\nhello\r\n+5\r\nhello\r\n0\r\n\r\n",
    "chunk too long": head("Transfer-Encoding: chunked") + b"5\r\nhelloX\r\n0\r\n\r\n" + SECOND,
    "chunk size overflow": head("Transfer-Encoding: chunked")
    + b"5\r\nhello\r\nfffffffffffffffff\r\nx\r\n0\r\n\r\n",
    "bare LF in chunks": head("Transfer-Encoding: chunked") + b"5\r\nhello\r\n5\nhello\n0\n\n",
    "endless chunk line": head("Transfer-Encoding: chunked") + b"5\r\nhello\r\n5;"
    + b"x" * 10000 + b"\r\nhello\r\n0\r\n\r\n",
    "bad trailer": head("Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\nbad\r\n\r\n" + SECOND,
}


@pytest.mark.parametrize("name", BROKEN_BODIES)
def test_broken_body_is_seen_to_be_broken(http, name):
    proxy, origin, base = http
    origin.on("/broken", reply(BROKEN_BODIES[name], close=True))
    with proxy.client() as client:
        answer = client.get(base + "/broken")
        if answer.status == 200:
            assert not answer.complete
            assert answer.body in (b"hello", b"")
        else:
            assert answer.reason == "origin-bad-response"
        assert client.recv_to_end(5) == b""
    assert proxy.audit.wait_one(event="close").get("reason") == "origin-bad-response"


# Bytes after the end of an answer: never an answer to the next request.
SPLITS = {
    "two answers": ("GET", response(b"first") + SECOND),
    "two answers, chunked": ("GET", head("Transfer-Encoding: chunked")
                             + b"5\r\nfirst\r\n0\r\n\r\n" + SECOND),
    "bytes after the length": ("GET", head("Content-Length: 5") + b"first and more"),
    "body of a 204": ("GET", head(status="204 No Content") + SECOND),
    "length of a 204": ("GET", head(f"Content-Length: {len(SECOND)}", status="204 No Content")
                        + SECOND),
    "chunked 204": ("GET", head("Transfer-Encoding: chunked", status="204 No Content")
                    + b"5\r\nhello\r\n0\r\n\r\n" + SECOND),
    "body of a 304": ("GET", head(f"Content-Length: {len(SECOND)}", status="304 Not Modified")
                      + SECOND),
    "body of a HEAD": ("HEAD", head(f"Content-Length: {len(SECOND)}") + SECOND),
    "chunked HEAD": ("HEAD", head("Transfer-Encoding: chunked")
                     + b"5\r\nhello\r\n0\r\n\r\n" + SECOND),
    "answer behind an interim one": ("GET", b"HTTP/1.1 100 Continue\r\nContent-Length: 9\r\n\r\n"
                                     + response(b"first") + SECOND),
    "trailer that is an answer": ("GET", head("Transfer-Encoding: chunked")
                                  + b"5\r\nfirst\r\n0\r\nX: y\r\n\r\n" + SECOND),
    "empty body and an answer": ("GET", head("Content-Length: 0") + SECOND),
}


@pytest.mark.parametrize("name", SPLITS)
def test_bytes_after_an_answer_never_answer_the_next_request(http, name):
    proxy, origin, base = http
    method, raw = SPLITS[name]
    origin.on("/split", reply(raw))
    origin.on("/next", response(b"mine"))
    with proxy.client() as client:
        answer = client.get(base + "/split", method=method)
        assert answer is not None and b"SPLIT" not in answer.body
        if client.try_send(f"GET {base}/next HTTP/1.1\r\nHost: {base[7:]}\r\n\r\n".encode()):
            second = client.read_response()
            if second is not None:
                assert second.body == b"mine" or second.status == 502


@pytest.mark.parametrize("name", SPLITS)
def test_bytes_after_an_answer_never_answer_a_pipelined_request(http, name):
    proxy, origin, base = http
    method, raw = SPLITS[name]
    origin.on("/split", reply(raw))
    origin.on("/next", response(b"mine"))
    with proxy.client() as client:
        client.send(f"{method} {base}/split HTTP/1.1\r\nHost: {base[7:]}\r\n\r\n".encode()
                    + f"GET {base}/next HTTP/1.1\r\nHost: {base[7:]}\r\nConnection: close\r\n\r\n"
                    .encode())
        everything = client.recv_to_end()
    assert b"SPLIT" not in everything
    assert everything.count(b"HTTP/1.1 ") <= 3  # the interim one too


def test_answer_before_any_request_is_not_given_to_one(world):
    """An origin that talks first poisons the kept connection, not the client."""
    origin = world.http_origin("h.test")
    origin.on("/1", reply(response(b"one")))
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    base = f"http://h.test:{world.http_port}"
    with proxy.client() as client:
        assert client.get(base + "/1").body == b"one"
        origin.connections[0].send(SECOND)
        answer = client.get(base + "/2")
        assert answer.body == b"ok" or answer.status == 502
        assert b"SPLIT" not in answer.body


# Ordinary answers.

def test_interim_answers_are_passed_on_or_dropped_but_never_counted_as_the_answer(http):
    proxy, origin, base = http
    origin.default = reply(head("Link: </a>", status="103 Early Hints"),
                           head(status="102 Processing"), response(b"final"))
    assert proxy.get(base + "/").body == b"final"


def test_headers_of_an_answer_arrive_and_hop_by_hop_ones_do_not(http):
    proxy, origin, base = http
    origin.default = reply(response(b"x", headers=[
        "Set-Cookie: a=1", "Set-Cookie: b=2", "X-Kept: v", "Connection: x-hop, keep-alive",
        "X-Hop: 1", "Keep-Alive: timeout=5", "Proxy-Authenticate: Basic", "Upgrade: h2",
        "Trailer: T", "ETag: \"e\""]))
    answer = proxy.get(base + "/")
    assert answer.values("set-cookie") == ["a=1", "b=2"]
    assert (answer.value("x-kept"), answer.value("etag")) == ("v", '"e"')
    for name in ("x-hop", "keep-alive", "proxy-authenticate", "upgrade", "trailer"):
        assert answer.values(name) == []


@pytest.mark.parametrize("status", ["200 OK", "201 Created", "301 Moved", "404 Not Found",
                                    "418 I'm a teapot", "500 Oops", "599 Custom", "200 "])
def test_status_and_phrase_arrive(http, status):
    proxy, origin, base = http
    origin.default = reply(response(b"x", status))
    assert proxy.get(base + "/").status == int(status[:3])


def test_refusal_header_of_an_origin_is_not_taken_for_ours(http):
    """An origin may send X-Stile-Reason; the log says what really happened."""
    proxy, origin, base = http
    origin.default = reply(response(b"x", "403 host-denied", ["X-Stile-Reason: host-denied"]))
    assert proxy.get(base + "/").status == 403
    assert proxy.audit.entries(event="deny") == []


def test_origin_that_resets_is_a_502(http):
    proxy, origin, base = http

    def responder(exchange):
        exchange.conn.reset()
        return False
    origin.default = responder
    answer = proxy.get(base + "/")
    assert answer.status == 502
    assert answer.reason in ("origin-bad-response", "origin-unreachable")


def test_answer_to_a_post_is_not_asked_for_twice(http):
    """A request that may have had an effect is never sent again by the proxy."""
    proxy, origin, base = http
    origin.on("/post", reply(b"", close=True))
    with proxy.client() as client:
        assert client.get(base + "/first").status == 200
        assert client.get(base + "/post", method="POST", body=b"x").status == 502
    assert origin.paths().count("/post") == 1
