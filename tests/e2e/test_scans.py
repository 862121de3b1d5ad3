"""Scans: what must not leave, in real requests to a real origin."""

import base64
import gzip
import zlib

import pytest
from harness.checks import assert_denied, measures_memory
from harness.cli import Operator
from harness.inside import Inside
from harness.wait import until

pytestmark = pytest.mark.hostile_bytes

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def github_token(random="made0up0for0these0tests0000001"):
    number, check = zlib.crc32(random.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        check = DIGITS[digit] + check
    return "ghp_" + random + check


TOKEN = github_token()
VALUE = "the-real-value-0123456789"
UPGRADE = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x",
           "Sec-WebSocket-Extensions: permessage-deflate"]


@pytest.fixture
def scanned(world):
    """One opened host and one of plain HTTP, for an agent whose requests are scanned."""
    world.origin = world.tls_origin("a.test")
    world.plain = world.http_origin("p.test")
    world.scans.append({"name": "internal", "pattern": r"corp\.example"})
    world.scans.append({"name": "project", "pattern": "bluebird", "action": "log"})
    world.agent("alpha", allow=["p.test"], scan=["tokens", "internal", "project"],
                request=[{"host": "a.test", "methods": ["*"], "websocket": True}])
    return world


def assert_got_nothing(*origins):
    """A connection, perhaps, but not a byte of a request."""
    for origin in origins:
        assert not origin.requests and not any(one.received for one in origin.connections)


def base64url(text):
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize("target, headers", [
    (f"/x/{TOKEN}", []),
    (f"/?q={TOKEN}", []),
    ("/?q=" + "".join(f"%{ord(c):02x}" for c in TOKEN), []),
    ("/x/" + base64url(TOKEN), []),
    ("/", [f"X-Note: {TOKEN}"]),
    ("/", [f"Cookie: a=1; b={base64url('k=' + TOKEN)}"]),
    ("/", [f"X-Note: {TOKEN[:20]}", f"x-note: {TOKEN[20:]}"]),
    ("/", [f"X-{TOKEN}: 1"]),
    ("/", [f"User-Agent: {TOKEN.encode().hex()}"]),
])
def test_a_token_in_the_head_is_refused(scanned, target, headers):
    proxy = scanned.start()
    inside = Inside(scanned, proxy)
    assert_denied(proxy, inside.get(target, *headers), "secret-found")
    line = proxy.audit.wait_one(event="deny", reason="secret-found")
    assert line["scan"] == "tokens" and line["detail"].startswith("in ")
    assert_got_nothing(scanned.origin)
    assert inside.get("/fine").status == 200
    assert TOKEN.encode() not in proxy.audit.path.read_bytes()
    assert proxy.metrics().total("stile_scan_hits_total", agent="alpha", scan="tokens") == 1


def test_the_line_says_where_it_was_found(scanned):
    proxy = scanned.start()
    Inside(scanned, proxy).get("/", f"X-Note: {TOKEN}")
    assert proxy.audit.wait_one(event="deny")["detail"] == "in header X-Note"
    Inside(scanned, proxy).ask("POST", "/", body=b"see https://wiki.corp.example/")
    line = proxy.audit.wait_count(2, event="deny")[1]
    assert (line["scan"], line["detail"], line["path"]) == ("internal", "in the body", "/")
    Inside(scanned, proxy).get(f"/{TOKEN}")
    line = proxy.audit.wait_count(3, event="deny")[2]
    assert line["detail"] == "in the request line" and "path" not in line


def multipart(text):
    return (b'--b\r\nContent-Disposition: form-data; name="f"; filename="env"\r\n\r\nA=1\nB=' +
            text.encode() + b"\r\n--b--\r\n")


BODIES = {
    "plain": TOKEN.encode(),
    "json": f'{{"a": ["b", "{TOKEN}"]}}'.encode(),
    "json escapes": "".join(f"\\u{ord(c):04x}" for c in TOKEN).encode(),
    "form": f"a=1&b={TOKEN}".encode(),
    "multipart": multipart(TOKEN),
    "base64": base64.b64encode(f"A=1\nTOKEN={TOKEN}\n".encode()),
    "base64 twice": base64.b64encode(base64.b64encode(TOKEN.encode())),
    "hex": TOKEN.encode().hex().encode(),
    "gzip without a header": gzip.compress(TOKEN.encode()),
    "gzip in multipart": b"--b\r\n\r\n" + gzip.compress(TOKEN.encode()) + b"\r\n--b--\r\n",
    "at the end of 60 KiB": b"x " * 30000 + TOKEN.encode(),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_token_in_a_body_never_reaches_the_origin(scanned, name):
    proxy = scanned.start()
    answer = Inside(scanned, proxy).ask("POST", "/upload", body=BODIES[name])
    assert_denied(proxy, answer, "secret-found")
    assert_got_nothing(scanned.origin)


@pytest.mark.parametrize("coding, pack", [("gzip", gzip.compress), ("deflate", zlib.compress),
                                          ("deflate", lambda text: raw_deflate(text))])
def test_a_compressed_body_is_read(scanned, coding, pack):
    proxy = scanned.start()
    inside = Inside(scanned, proxy)
    body = pack(b"clean " * 1000)
    assert inside.ask("POST", "/", [f"Content-Encoding: {coding}"], body).status == 200
    assert scanned.origin.requests[-1].body == body
    body = pack(b"some text " * 1000 + TOKEN.encode())
    assert inside.ask("POST", "/", [f"Content-Encoding: {coding}"], body).reason == "secret-found"


def raw_deflate(text):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(text) + packer.flush()


def test_a_body_in_another_coding_than_declared_is_refused(scanned):
    proxy = scanned.start()
    for coding, body in [("gzip", b"plain"), ("gzip", gzip.compress(b"x") + b"more"),
                         ("deflate", b"\xff plain")]:
        answer = Inside(scanned, proxy).ask("POST", "/", [f"Content-Encoding: {coding}"], body)
        assert answer.reason == "bad-request"
    assert_got_nothing(scanned.origin)
    assert Inside(scanned, proxy).get("/", "Content-Encoding: gzip").status == 200


def test_a_head_that_is_compressed_too_much_is_refused(scanned):
    proxy = scanned.start()
    note = base64.b64encode(gzip.compress(bytes(1 << 20) + TOKEN.encode())).decode()
    assert Inside(scanned, proxy).get("/", f"X-Note: {note}").reason == "bad-request"
    assert_got_nothing(scanned.origin)


def test_a_token_as_the_method_is_not_logged(scanned):
    proxy = scanned.start()
    assert Inside(scanned, proxy).ask(TOKEN, "/x").reason == "secret-found"
    assert not proxy.audit.wait_one(event="deny", reason="secret-found").get("method")
    assert TOKEN.encode() not in proxy.audit.path.read_bytes()


def test_a_body_in_tiny_pieces_arrives_whole(scanned):
    proxy = scanned.start()
    inside = Inside(scanned, proxy)
    body = b"0123456789 abcdef\n" * 4000
    inside.send("POST", "/", ["Transfer-Encoding: chunked"])
    inside.client.send(f"{len(body):x}\r\n".encode() + body + b"\r\n")
    for byte in body[:3000]:
        inside.client.send(b"1\r\n" + bytes([byte]) + b"\r\n")
    inside.client.send(b"0\r\n\r\n")
    assert inside.client.read_response("POST").status == 200
    assert scanned.origin.requests[-1].body == body + body[:3000]


@measures_memory
def test_the_lines_of_chunks_are_not_held(scanned):
    """Each chunk has one byte, in a line of 4 KiB. Connections that wait for the rest hold only the bytes."""
    proxy = scanned.start()
    count, size = 40, 1 << 20
    chunk = b"1;" + b"x" * 4080 + b"\r\ny\r\n"
    before = proxy.resident_bytes()
    connections = [Inside(scanned, proxy) for _ in range(count)]
    for inside in connections:
        inside.send("POST", "/", ["Transfer-Encoding: chunked"])
        inside.client.send(chunk * (size // len(chunk)))
    assert proxy.resident_bytes() - before < count * size // 4
    for inside in connections:
        inside.client.send(b"0\r\n\r\n")
    assert all(inside.client.read_response("POST").status == 200 for inside in connections)
    assert {request.body for request in scanned.origin.requests} == {b"y" * (size // len(chunk))}


def test_a_body_that_is_compressed_too_much_is_refused(scanned):
    proxy = scanned.start()
    body = gzip.compress(bytes(50 << 20) + TOKEN.encode())
    answer = Inside(scanned, proxy).ask("POST", "/", ["Content-Encoding: gzip"], body)
    assert answer.reason == "body-too-large"
    assert_got_nothing(scanned.origin)


@pytest.mark.parametrize("size", [1, 7, 30])
def test_a_token_over_chunks_never_reaches_the_origin(scanned, size):
    proxy = scanned.start()
    inside = Inside(scanned, proxy)
    inside.send("POST", "/", ["Transfer-Encoding: chunked"])
    text = f"some text {TOKEN} more".encode()
    for at in range(0, len(text), size):
        piece = text[at:at + size]
        inside.client.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    inside.client.send(b"0\r\n\r\n")
    assert inside.client.read_response("POST").reason == "secret-found"
    assert_got_nothing(scanned.origin)


@pytest.mark.parametrize("chunked", [False, True])
def test_a_large_body_is_cut_where_a_token_is(scanned, chunked):
    """Beyond what is held, the origin sees the beginning, but not the token nor an end."""
    proxy = scanned.start()
    inside = Inside(scanned, proxy)
    body = b"clean text. " * 20000 + TOKEN.encode() + b" the end"
    if chunked:
        inside.send("POST", "/", ["Transfer-Encoding: chunked"])
        inside.client.send(f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n")
    else:
        inside.send("POST", "/", [f"Content-Length: {len(body)}"])
        inside.client.send(body)
    assert inside.client.read_response("POST").reason == "secret-found"
    close = proxy.audit.wait_one(event="close", reason="secret-found")
    assert (close["verdict"], close["scan"], close["detail"]) == ("deny", "tokens", "in the body")
    until(lambda: scanned.origin.connections and scanned.origin.connections[0].ended)
    assert not scanned.origin.requests or len(scanned.origin.requests[0].body or b"") < len(body)
    assert all(TOKEN[:8].encode() not in one.received for one in scanned.origin.connections)


@pytest.mark.parametrize("size", [0, 1, 1000, 65535, 65536, 65537, 1_000_000])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_clean_body_arrives_whole(scanned, size, chunked):
    proxy = scanned.start()
    inside = Inside(scanned, proxy)
    body = (b"0123456789 abcdef\n" * (size // 18 + 1))[:size]
    if chunked:
        inside.send("POST", "/", ["Transfer-Encoding: chunked"])
        for at in range(0, size, 9999):
            piece = body[at:at + 9999]
            inside.client.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        inside.client.send(b"0\r\n\r\n")
        answer = inside.client.read_response("POST")
    else:
        answer = inside.ask("POST", "/", body=body)
    assert answer.status == 200
    assert scanned.origin.requests[-1].body == body
    assert inside.get("/next").status == 200


def test_expect_continue_works_with_a_held_body(scanned):
    proxy = scanned.start()
    inside = Inside(scanned, proxy)
    inside.send("POST", "/", ["Content-Length: 5", "Expect: 100-continue"])
    assert inside.client.read_head()[0] == 100
    inside.client.send(b"hello")
    answer = inside.client.read_response("POST")
    while answer.status == 100:
        answer = inside.client.read_response("POST")
    assert answer.status == 200 and scanned.origin.requests[-1].body == b"hello"


def test_plain_http_is_scanned(scanned):
    proxy = scanned.start()
    client = proxy.client("alpha")
    base = f"http://p.test:{scanned.http_port}"
    assert client.get(f"{base}/?k={TOKEN}").reason == "secret-found"
    assert_got_nothing(scanned.plain)
    assert proxy.client("alpha").get(f"{base}/fine").status == 200


def test_a_scan_that_only_logs_lets_the_request_pass(scanned):
    proxy = scanned.start()
    inside = Inside(scanned, proxy)
    assert inside.ask("POST", "/", body=b"about bluebird").status == 200
    close = proxy.audit.wait_one(event="close")
    assert (close["verdict"], close["scan"], close["detail"]) == ("allow", "project", "in the body")
    assert "reason" not in close
    assert proxy.metrics().total("stile_scan_hits_total", agent="alpha", scan="project") == 1


def test_a_built_in_set_can_only_log(scanned):
    scanned.scans.append({"name": "tokens", "action": "log"})
    proxy = scanned.start()
    assert Inside(scanned, proxy).get(f"/?q={TOKEN}").status == 200
    assert proxy.audit.wait_one(event="open")["scan"] == "tokens"


def test_observe_mode_logs_what_would_be_refused(scanned):
    scanned.agents[0]["mode"] = "observe"
    proxy = scanned.start()
    assert Inside(scanned, proxy).ask("POST", "/", body=TOKEN.encode()).status == 200
    line = proxy.audit.wait_one(event="open")
    assert (line["verdict"], line["reason"], line["scan"]) == ("would-deny", "secret-found", "tokens")


def test_a_kept_credential_header_may_carry_a_token(scanned):
    scanned.agents[0]["request"] = [{"host": "a.test", "keep_headers": ["Authorization"]}]
    proxy = scanned.start()
    inside = Inside(scanned, proxy)
    assert inside.get("/", f"Authorization: Bearer {TOKEN}").status == 200
    assert inside.get("/", f"X-Note: {TOKEN}").reason == "secret-found"


# Secrets of the config.

@pytest.fixture
def keyed(world):
    """A secret of beta's: alpha must not send it anywhere."""
    world.origin = world.tls_origin("a.test")
    world.plain = world.http_origin("p.test")
    world.secret("api", VALUE, ["a.test"], header="X-Api-Key", placeholder="sk-placeholder-1")
    world.agent("alpha", allow=["p.test"], request=[{"host": "a.test", "methods": ["*"]}])
    world.agent("beta", allow=["a.test", "p.test"], secrets=["api"])
    return world


@pytest.mark.parametrize("text", [
    VALUE, base64.b64encode(b"u:" + VALUE.encode()).decode(), VALUE.encode().hex(),
    base64.b64encode(base64.b64encode(b"text " + VALUE.encode())).decode()])
def test_the_value_of_a_secret_is_refused_for_every_agent(keyed, text):
    proxy = keyed.start()
    answer = Inside(keyed, proxy).ask("POST", "/", body=text.encode())
    assert_denied(proxy, answer, "secret-found")
    assert proxy.audit.wait_one(event="deny", reason="secret-found")["scan"] == "secrets"
    client = proxy.client("alpha")
    assert client.get(f"http://p.test:{keyed.http_port}/?{text.rstrip('=')}").reason == "secret-found"
    assert_got_nothing(keyed.origin, keyed.plain)


def test_an_encoded_placeholder_is_misplaced(keyed):
    proxy = keyed.start()
    body = base64.b64encode(b"key: sk-placeholder-1")
    inside = Inside(keyed, proxy, agent="beta")
    assert inside.ask("POST", "/", body=body).reason == "placeholder-misplaced"
    assert_got_nothing(keyed.origin)
    client = proxy.client("beta")
    assert client.get(f"http://p.test:{keyed.http_port}/sk-placeholder-1").reason == \
        "placeholder-misplaced"


def test_the_secret_itself_still_goes_out_in_its_header(keyed):
    proxy = keyed.start()
    inside = Inside(keyed, proxy, agent="beta")
    assert inside.ask("POST", "/", ["X-Api-Key: sk-placeholder-1"], b"{}").status == 200
    assert keyed.origin.requests[-1].values("x-api-key") == [VALUE]


# WebSocket.

def frame(payload, first=0x81):
    mask = b"\x12\x34\x56\x78"
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else \
        b"\xfe" + len(payload).to_bytes(2, "big")
    return bytes([first]) + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload))


def serve_websocket(exchange):
    exchange.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                  b"Connection: Upgrade\r\nSec-WebSocket-Accept: y\r\n\r\n")
    while exchange.conn.recv():
        exchange.send(b"+")
    return False


def open_websocket(scanned, proxy):
    scanned.origin.on("/socket", serve_websocket)
    inside = Inside(scanned, proxy)
    inside.send("GET", "/socket", UPGRADE)
    assert inside.client.read_head()[0] == 101
    return inside


def test_a_token_in_a_websocket_cuts_it(scanned):
    proxy = scanned.start()
    inside = open_websocket(scanned, proxy)
    assert scanned.origin.requests[0].value("sec-websocket-extensions") is None
    inside.client.send(frame(b"hello"))
    assert inside.client.recv_exactly(1) == b"+"
    token = TOKEN.encode()
    inside.client.send(frame(token[:10], 0x01) + frame(b"ping", 0x89))
    inside.client.send(frame(token[10:], 0x80))
    close = proxy.audit.wait_one(event="close", reason="secret-found")
    assert (close["scan"], close["detail"]) == ("tokens", "in the WebSocket")
    sent = b"".join(one.received for one in scanned.origin.connections)
    assert sent.endswith(frame(b"hello")), "nothing of the message that has it"


def received(scanned):
    return b"".join(one.received for one in scanned.origin.connections)


def test_a_frame_that_arrives_in_parts_is_held_until_it_is_whole(scanned):
    proxy = scanned.start()
    inside = open_websocket(scanned, proxy)
    inside.client.send(frame(b"hello"))
    assert inside.client.recv_exactly(1) == b"+"
    whole = frame(b"some text " + TOKEN.encode() + b" and more")
    for at in range(len(whole)):
        inside.client.try_send(whole[at:at + 1])
    assert proxy.audit.wait_one(event="close", reason="secret-found")
    assert received(scanned).endswith(frame(b"hello"))


def test_clean_messages_pass_as_they_were_sent_in_parts_of_any_size(scanned):
    proxy = scanned.start()
    inside = open_websocket(scanned, proxy)
    text = b"".join(b"%07d " % i for i in range(25000))  # 200 kB
    big = b"".join(frame(text[at:at + 60000], 0x01 if at == 0 else 0x00)
                   for at in range(0, len(text), 60000)) + frame(b"", 0x80)
    sent = frame(b"a") + frame(b"ping", 0x89) + big + frame(b"", 0x81) + frame(b"z" * 70)
    for at in range(0, len(sent), 7001):
        inside.client.send(sent[at:at + 7001])
    until(lambda: received(scanned).endswith(sent), 15, "all frames")


def test_beyond_64_kib_the_beginning_of_a_token_stays_back(scanned):
    """Also if empty frames follow each of its letters."""
    proxy = scanned.start()
    inside = open_websocket(scanned, proxy)
    inside.client.send(b"".join(frame(b"x" * 60000, 0x01 if i == 0 else 0x00) for i in range(3)))
    until(lambda: len(received(scanned)) > 64 << 10, 15, "the beginning of the message")
    for letter in b" " + TOKEN.encode():
        inside.client.try_send(frame(bytes([letter]), 0x00) + frame(b"", 0x00) * 300)
    assert proxy.audit.wait_one(event="close", reason="secret-found")
    assert frame(TOKEN[:1].encode(), 0x00) not in received(scanned)


def test_frames_without_a_payload_are_not_held_without_end(scanned):
    proxy = scanned.start()
    inside = open_websocket(scanned, proxy)
    while inside.client.try_send(frame(b"", 0x00) * 5000):
        pass
    assert proxy.audit.wait_one(event="close", reason="body-too-large")


@pytest.mark.parametrize("headers", [
    ["Content-Encoding: gzip, gzip"], ["Content-Encoding: deflate, gzip"],
    ["Content-Encoding: gzip", "content-encoding: gzip"], ["Content-Encoding: identity,gzip"],
    ["Content-Encoding: gzip, br"],
])
def test_a_body_in_several_codings_is_refused(scanned, headers):
    proxy = scanned.start()
    body = gzip.compress(gzip.compress(TOKEN.encode()))
    answer = Inside(scanned, proxy).ask("POST", "/", headers, body)
    assert_denied(proxy, answer, "bad-request")
    assert "several content codings" in proxy.audit.only(event="deny")["detail"]
    assert_got_nothing(scanned.origin)


def test_what_is_not_a_readable_frame_cuts_the_websocket(scanned):
    proxy = scanned.start()
    inside = open_websocket(scanned, proxy)
    inside.client.send(frame(b"x" * 20, 0xc1))  # says that it is compressed
    assert proxy.audit.wait_one(event="close", reason="bad-request")


# The operator.

def test_explain_looks_at_the_url(scanned):
    proxy = scanned.start()
    operator = Operator(proxy)
    fine = operator("explain", "alpha", f"https://a.test:{scanned.port}/x")
    assert fine.code == 0 and "project (only logged)" in fine.out
    found = operator("explain", "alpha", f"https://a.test:{scanned.port}/{TOKEN}")
    assert found.code == 1 and "secret-found" in found.out


def test_a_reload_changes_the_scans(scanned):
    proxy = scanned.start()
    inside = Inside(scanned, proxy)
    assert inside.ask("POST", "/", body=b"albatross").status == 200
    scanned.scans.append({"name": "bird", "pattern": "albatross"})
    scanned.agents[0]["scan"] = ["bird"]
    proxy.settings = scanned.settings()
    proxy.write_config()
    with proxy.control() as control:
        assert control.do("reload")["ok"]
    assert Inside(scanned, proxy).ask("POST", "/", body=b"albatross").reason == "secret-found"
    assert Inside(scanned, proxy).ask("POST", "/", body=TOKEN.encode()).status == 200
