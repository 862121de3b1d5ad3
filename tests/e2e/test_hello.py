"""In a tunnel nothing reaches the origin before one whole ClientHello for the CONNECT host."""

import os
import struct
import time

import pytest
from harness import hello
from harness.wait import SOON, steady, until

pytestmark = pytest.mark.hostile_bytes

NAME = "o.test"


def _cut(message, at):
    """The first record carries `at` bytes of the message; the caller puts things after it."""
    return hello.record(message[:at]), hello.record(message[at:])


def between(middle):
    first, second = _cut(hello.client_hello(NAME), 60)
    return first + middle + second


def with_body(change):
    """A hello whose body (after the handshake header) went through `change`."""
    body = change(hello.client_hello(NAME)[4:])
    return hello.records(hello.handshake(1, body))


def raw_sni(payload):
    """A hello whose server_name extension has this payload."""
    extension = hello.extension(hello.SERVER_NAME, payload)
    return hello.records(hello.client_hello(extensions=[extension, *hello.usual_extensions()]))


def entry(name, kind=0):
    return bytes([kind]) + struct.pack("!H", len(name)) + name


def name_list(*entries):
    block = b"".join(entries)
    return struct.pack("!H", len(block)) + block


NOT_TLS = {
    "http": b"GET / HTTP/1.1\r\nHost: o.test\r\n\r\n",
    "connect again": b"CONNECT o.test:443 HTTP/1.1\r\nHost: o.test\r\n\r\n",
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "h2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "zeros": bytes(100),
    "random": b"\x99" + os.urandom(200),
    "newline": b"\r\n",
    "alert record": hello.record(b"\x02\x28", kind=hello.ALERT),
    "application data": hello.record(b"x" * 50, kind=hello.APPLICATION_DATA),
    "change cipher spec": hello.record(b"\x01", kind=hello.CHANGE_CIPHER_SPEC),
    "heartbeat": hello.record(b"x" * 10, kind=24),
    "sslv2 hello": b"\x80\x2e\x01\x03\x01\x00\x15\x00\x00\x00\x10" + bytes(40),
    "server hello": hello.server_hello(),
    "hello request": hello.records(hello.handshake(0, b"")),
    "certificate": hello.records(hello.handshake(11, bytes(50))),
    "empty record first": hello.record(b"") + hello.hello_for(NAME),
    "empty record within": between(hello.record(b"")),
    "alert within": between(hello.record(b"\x01\x00", kind=hello.ALERT)),
    "change cipher spec within": between(hello.record(b"\x01", kind=hello.CHANGE_CIPHER_SPEC)),
    "application data within": between(hello.record(b"x", kind=hello.APPLICATION_DATA)),
    "change cipher spec first": hello.record(b"\x01", kind=hello.CHANGE_CIPHER_SPEC)
    + hello.hello_for(NAME),
    "bytes after it in its record": hello.record(hello.client_hello(NAME) + b"x"),
    "two hellos in one record": hello.record(hello.client_hello(NAME) * 2),
    "another message in its record": hello.record(
        hello.client_hello(NAME) + hello.handshake(16, bytes(10))),
    "record version 0": hello.record(hello.client_hello(NAME), version=0x0000),
    "record version 2": hello.record(hello.client_hello(NAME), version=0x0200),
    "record above 2^14": hello.record(hello.client_hello(NAME, padding=20000)),
    "hello above 64 KiB": hello.records(hello.client_hello(NAME, ciphers=b"\x13\x01" * 32767)),
    "length of 16 MiB": hello.record(b"\x01\xff\xff\xff" + bytes(200)),
    "empty hello": hello.records(hello.handshake(1, b"")),
    "short body": with_body(lambda body: body[:20]),
    "session id beyond its end": with_body(lambda body: body[:34] + b"\xff" + body[35:]),
    "session id of 33 bytes": with_body(lambda body: body[:34] + b"\x21" + body[35:67] + b"x"
                                        + body[67:]),
    "ciphers beyond their end": with_body(lambda body: body[:67] + b"\xff\xfe" + body[69:]),
    "extensions beyond their end": with_body(
        lambda body: body[:73] + struct.pack("!H", len(body)) + body[75:]),
    "extensions too short": with_body(lambda body: body[:73] + b"\x00\x04" + body[75:]),
    "bytes after the extensions": with_body(lambda body: body + b"x"),
    "extension beyond the block": hello.records(hello.client_hello(
        NAME, extra=[b"\x77\x77\xff\xff"])),
}

# How a server_name may be wrong; what matters is that it does not pass.
BAD_NAMES = {
    "missing": (hello.hello_for(None), {"sni-missing"}),
    "no extensions at all": (with_body(lambda body: body[:73]), {"sni-missing", "not-tls"}),
    "another name": (hello.hello_for("p.test"), {"sni-mismatch"}),
    "a parent": (hello.hello_for("test"), {"sni-mismatch"}),
    "a child": (hello.hello_for("a.o.test"), {"sni-mismatch"}),
    "a longer label": (hello.hello_for("oo.test"), {"sni-mismatch"}),
    "name cut short": (hello.hello_for("o.tes"), {"sni-mismatch"}),
    "trailing dot": (hello.hello_for("o.test."), {"sni-mismatch", "not-tls"}),
    "NUL after it": (hello.hello_for(b"o.test\0"), {"sni-mismatch", "not-tls"}),
    "NUL and another name": (hello.hello_for(b"o.test\0p.test"), {"sni-mismatch", "not-tls"}),
    "blank after it": (hello.hello_for("o.test "), {"sni-mismatch", "not-tls"}),
    "its port too": (hello.hello_for("o.test:443"), {"sni-mismatch", "not-tls"}),
    "an address": (hello.hello_for("127.0.0.1"), {"sni-mismatch", "not-tls"}),
    "empty name": (hello.hello_for(""), {"sni-mismatch", "sni-missing", "not-tls"}),
    "newline in it": (hello.hello_for("p.test\n{\"event\":\"open\"}"), {"sni-mismatch", "not-tls"}),
    "wildcard": (hello.hello_for("*.test"), {"sni-mismatch", "not-tls"}),
}

ODD_NAMES = {
    "two extensions, right one first": hello.records(hello.client_hello(
        NAME, extra=[hello.server_name("p.test")])),
    "two extensions, right one last": hello.records(hello.client_hello(
        "p.test", extra=[hello.server_name(NAME)])),
    "the same extension twice": hello.records(hello.client_hello(
        NAME, extra=[hello.server_name(NAME)])),
    "two names, right one first": raw_sni(name_list(entry(b"o.test"), entry(b"p.test"))),
    "two names, right one last": raw_sni(name_list(entry(b"p.test"), entry(b"o.test"))),
    "the same name twice": raw_sni(name_list(entry(b"o.test"), entry(b"o.test"))),
    "another kind of name": raw_sni(name_list(entry(b"o.test", kind=1))),
    "another kind of name before it": raw_sni(name_list(entry(b"p.test", kind=1),
                                                        entry(b"o.test"))),
    "another kind of name after it": raw_sni(name_list(entry(b"o.test"), entry(b"p.test", kind=7))),
    "empty list": raw_sni(name_list()),
    "empty extension": raw_sni(b""),
    "list shorter than its length": raw_sni(b"\x00\x20" + entry(b"o.test")),
    "bytes after the list": raw_sni(name_list(entry(b"o.test")) + b"\0"),
    "name longer than the list": raw_sni(b"\x00\x09\x00\x00\xffo.test"),
}


@pytest.fixture(scope="module")
def proxy(shared_world):
    world = shared_world
    world.origin = world.tcp_origin(NAME)
    world.agent("alpha", allow=[NAME])
    return world.start(limits={"client_hello_timeout_ms": 3000})


def assert_cut(world, proxy, bytes_sent, reasons):
    """The client gets the alert, the origin nothing, the log one deny line and no open."""
    number = len(world.origin.connections)
    client = proxy.tunnel(NAME, world.port)
    client.try_send(bytes_sent)
    assert client.recv_to_end() == hello.ACCESS_DENIED
    source = f"{proxy.addresses['alpha']}:{client.local_port}"
    lines = proxy.audit.entries(src=source)
    assert len(lines) == 1, lines
    assert lines[0]["event"] == "deny" and lines[0]["reason"] in reasons, lines
    conn = world.origin.wait_connection(number)
    conn.wait_ended()
    assert conn.received == b""
    return lines[0]


@pytest.mark.parametrize("name", NOT_TLS)
def test_whatever_is_not_one_whole_hello_is_cut(shared_world, proxy, name):
    assert_cut(shared_world, proxy, NOT_TLS[name], {"not-tls"})


@pytest.mark.parametrize("name", BAD_NAMES)
def test_server_name_has_to_be_the_connect_host(shared_world, proxy, name):
    sent, reasons = BAD_NAMES[name]
    assert_cut(shared_world, proxy, sent, reasons)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_server_name_has_to_be_exactly_one(shared_world, proxy, name):
    assert_cut(shared_world, proxy, ODD_NAMES[name], {"not-tls", "sni-mismatch", "sni-missing"})


def test_name_of_a_refused_hello_is_logged(shared_world, proxy):
    line = assert_cut(shared_world, proxy, hello.hello_for("p.test"), {"sni-mismatch"})
    assert line["sni"] == "p.test"
    assert line["host"] == NAME


def test_ech_is_refused(shared_world, proxy):
    sent = hello.records(hello.client_hello(NAME, extra=[hello.ech_extension()]))
    assert_cut(shared_world, proxy, sent, {"ech-refused"})


def test_empty_ech_extension_is_refused_too(shared_world, proxy):
    sent = hello.records(hello.client_hello(NAME, extra=[hello.extension(hello.ECH, b"")]))
    assert_cut(shared_world, proxy, sent, {"ech-refused"})


def test_ech_passes_where_it_is_allowed(world):
    origin = world.tcp_origin(NAME)
    world.agent("alpha", allow=[NAME], ech="allow")
    proxy = world.start()
    client = proxy.tunnel(NAME, world.port)
    sent = hello.records(hello.client_hello(NAME, extra=[hello.ech_extension()]))
    client.send(sent)
    origin.wait_connection().wait_received(sent)


def test_ech_passes_only_to_the_hosts_of_a_list(world):
    origins = {name: world.tcp_origin(name) for name in (NAME, "p.test")}
    world.agent("alpha", allow=list(origins), ech=[f"{NAME}:{world.port}"])
    proxy = world.start()
    for name, origin in origins.items():
        client = proxy.tunnel(name, world.port)
        sent = hello.records(hello.client_hello(name, extra=[hello.ech_extension()]))
        client.send(sent)
        if name == NAME:
            origin.wait_connection().wait_received(sent)
        else:
            client.recv_to_end()
            proxy.audit.wait_one(event="deny", host=name, reason="ech-refused")
            assert origin.received == b""  # dialled before the hello was read, and sent nothing


@pytest.mark.parametrize("ech, says", [("refuse", "without ECH"), (["p.test"], "without ECH"),
                                       ([NAME], "ECH is allowed"), ("allow", "ECH is allowed")])
def test_explain_says_what_the_hello_must_be_and_not_that_it_was_sent(world, ech, says):
    world.tcp_origin(NAME)
    world.agent("alpha", allow=[NAME], ech=ech)
    proxy = world.start()
    told = proxy.control().do("explain", agent="alpha", host=NAME, port=world.port)
    step = told["steps"][-1]
    assert (step["step"], step["result"]) == ("hello", "not-run"), step
    assert says in step["detail"], step
    assert "let through" not in told["message"], told


# What passes, and that it passes unchanged.

def assert_passes(world, proxy, sent, *points):
    number = len(world.origin.connections)
    client = proxy.tunnel(NAME, world.port)
    client.send_split(sent, *points)
    conn = world.origin.wait_connection(number)
    conn.wait_received(len(sent))
    client.close()
    conn.wait_ended()
    assert bytes(conn.received) == sent
    return client


GOOD = {
    "one record": hello.hello_for(NAME),
    "what OpenSSL sends": hello.real_hello(NAME),
    "other letters": hello.hello_for("O.TesT"),
    "record version 3.3": hello.record(hello.client_hello(NAME), version=0x0303),
    "one byte in the first record": hello.records(hello.client_hello(NAME), 1),
    "header over three records": hello.records(hello.client_hello(NAME), 1, 1, 1),
    "a record for each 10 bytes": hello.records(hello.client_hello(NAME), *[10] * 40),
    "a record for each byte": hello.records(hello.client_hello(NAME), *[1] * 400),
    "post-quantum size": hello.hello_for(NAME, padding=1800),
    "60 KiB": hello.records(hello.client_hello(NAME, ciphers=b"\x13\x01" * 30000)),
    "40 KiB": hello.records(hello.client_hello(NAME, extra=[
        hello.extension(0x7700 + n, bytes(10000)) for n in range(4)])),
    "early data behind it": hello.hello_for(NAME) + hello.record(b"x" * 99, kind=23),
    "garbage behind it": hello.hello_for(NAME) + b"\x00\xff garbage\n",
}


@pytest.mark.parametrize("name", GOOD)
def test_good_hello_goes_through_unchanged(shared_world, proxy, name):
    client = assert_passes(shared_world, proxy, GOOD[name])
    line = proxy.audit.only(event="open", src=f"{proxy.addresses['alpha']}:{client.local_port}")
    assert line["sni"].lower() == NAME


@pytest.mark.parametrize("at", [1, 4, 5, 6, 9, 10, 43, 44, 80, 120])
def test_hello_may_be_split_over_segments_anywhere(shared_world, proxy, at):
    assert_passes(shared_world, proxy, hello.hello_for(NAME), at)


def test_hello_may_come_byte_by_byte(shared_world, proxy):
    sent = hello.records(hello.client_hello(NAME), 30, 50)
    assert_passes(shared_world, proxy, sent, *range(1, len(sent)))


def test_hello_in_the_segment_of_the_connect(shared_world, proxy):
    number = len(shared_world.origin.connections)
    sent = hello.hello_for(NAME) + hello.record(b"more", kind=hello.APPLICATION_DATA)
    with proxy.client() as client:
        client.send(f"CONNECT {NAME}:{shared_world.port} HTTP/1.1\r\n\r\n".encode() + sent)
        assert client.read_response("CONNECT").status == 200
        shared_world.origin.wait_connection(number).wait_received(sent)


def test_bad_hello_in_the_segment_of_the_connect(shared_world, proxy):
    number = len(shared_world.origin.connections)
    with proxy.client() as client:
        client.send(f"CONNECT {NAME}:{shared_world.port} HTTP/1.1\r\n\r\n".encode()
                    + hello.hello_for("p.test"))
        assert client.read_response("CONNECT").status == 200
        assert client.recv_to_end() == hello.ACCESS_DENIED
    conn = shared_world.origin.wait_connection(number)
    conn.wait_ended()
    assert conn.received == b""


def test_nothing_goes_out_while_the_hello_is_incomplete(shared_world, proxy):
    number = len(shared_world.origin.connections)
    sent = hello.hello_for(NAME)
    client = proxy.tunnel(NAME, shared_world.port)
    client.send(sent[:-1])
    conn = shared_world.origin.wait_connection(number)
    assert steady(lambda: bytes(conn.received), quiet=0.3) == b""
    source = f"{proxy.addresses['alpha']}:{client.local_port}"
    assert proxy.audit.entries(src=source) == [], "not yet decided, so no line yet"
    client.send(sent[-1:])
    conn.wait_received(sent)


# Time and ends.

@pytest.mark.parametrize("start", [b"", hello.hello_for(NAME)[:40]], ids=["nothing", "a part"])
def test_hello_has_a_time_limit(world, start):
    origin = world.tcp_origin(NAME)
    world.agent("alpha", allow=[NAME])
    proxy = world.start(limits={"client_hello_timeout_ms": 400})
    started = time.monotonic()
    client = proxy.tunnel(NAME, world.port)
    client.send(start)
    assert client.recv_to_end() == hello.ACCESS_DENIED
    assert 0.3 < time.monotonic() - started < SOON
    assert proxy.audit.only(event="deny")["reason"] == "client-hello-timeout"
    assert origin.received == b""


def test_dribbled_hello_does_not_extend_its_time(world):
    origin = world.tcp_origin(NAME)
    world.agent("alpha", allow=[NAME])
    proxy = world.start(limits={"client_hello_timeout_ms": 500})
    client = proxy.tunnel(NAME, world.port)
    started = time.monotonic()
    sent = iter(hello.hello_for(NAME, padding=500))

    def ended():
        if client.try_send(bytes([next(sent)])):
            return proxy.audit.entries(reason="client-hello-timeout")
        return True
    until(ended)
    assert time.monotonic() - started < SOON
    assert origin.received == b""


@pytest.mark.parametrize("start", [b"", hello.hello_for(NAME)[:40]], ids=["nothing", "a part"])
def test_fin_before_the_hello_is_complete_ends_the_tunnel_at_once(world, start):
    origin = world.tcp_origin(NAME)
    world.agent("alpha", allow=[NAME], connections_per_agent=1)
    proxy = world.start()
    client = proxy.tunnel(NAME, world.port)
    client.send(start).half_close()
    origin.wait_connection().wait_ended(3)
    assert origin.received == b""
    client.recv_to_end(3)
    assert proxy.audit.entries(event="open") == []
    assert len(proxy.audit.wait_count(1, event="deny")) == 1
    # The only place is free again, long before the hello's time limit.
    until(lambda: proxy.connect("y.test", world.port).reason == "host-not-allowed", 3)


def test_origin_that_leaves_before_the_hello_ends_the_tunnel(world):
    origin = world.tcp_origin(NAME, handler=lambda conn: conn.reset())
    world.agent("alpha", allow=[NAME])
    proxy = world.start()
    with proxy.client() as client:
        answer = client.connect_to(NAME, world.port)
        if answer.status == 200:
            client.try_send(hello.hello_for(NAME))
            client.recv_to_end(5)
    origin.wait_connection()
    until(lambda: proxy.metrics().total("stile_connections_open") == 0)


# Turned off.

def test_sni_off_relays_anything(world):
    origin = world.tcp_origin(NAME)
    world.agent("alpha", allow=[NAME], sni="off")
    proxy = world.start()
    client = proxy.tunnel(NAME, world.port)
    client.send(b"no tls at all\n")
    origin.wait_connection().wait_received(b"no tls at all\n")
    assert proxy.audit.only(event="open")["verdict"] == "allow"


# With real clients.

def test_curl_fetches_through_a_tunnel(world):
    origin = world.tls_origin(NAME)
    world.agent("alpha", allow=[NAME])
    proxy = world.start()
    run = proxy.curl(f"https://{NAME}:{world.port}/path?q=1")
    assert (run.code, run.out, run.connect_status) == (0, b"ok", 200), run.err
    assert origin.names() == [NAME]
    assert origin.paths() == ["/path?q=1"]


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_s_client_talks_through_a_tunnel(world, version):
    origin = world.tls_origin(NAME)
    world.agent("alpha", allow=[NAME])
    proxy = world.start()
    run = proxy.s_client(f"{NAME}:{world.port}", version, "-quiet", "-no_ign_eof",
                         servername=NAME, data=b"GET /s HTTP/1.0\r\n\r\n")
    assert origin.names() == [NAME], run.err
    assert origin.paths() == ["/s"]


def test_s_client_shows_the_alert_of_a_wrong_name(world):
    origin = world.tls_origin(NAME)
    world.agent("alpha", allow=[NAME])
    proxy = world.start()
    run = proxy.s_client(f"{NAME}:{world.port}", servername="p.test")
    assert "access denied" in run.err, run.err
    assert origin.wait_connection().closed.wait(10)
    assert origin.connections[0].raw_start == b""


def test_s_client_shows_the_alert_of_a_missing_name(world):
    world.tls_origin(NAME)
    world.agent("alpha", allow=[NAME])
    proxy = world.start()
    run = proxy.s_client(f"{NAME}:{world.port}")
    assert "access denied" in run.err, run.err
    assert proxy.audit.only(event="deny")["reason"] == "sni-missing"


def test_curl_shows_the_alert_of_a_fronted_name(world):
    """Domain fronting: CONNECT to the allowed host, TLS for another."""
    origin = world.tls_origin(NAME)
    world.agent("alpha", allow=[NAME])
    proxy = world.start()
    run = proxy.curl("--connect-to", f"p.test:{world.port}:{NAME}:{world.port}",
                     f"https://p.test:{world.port}/")
    assert run.connect_status == 200
    assert run.code == 35 and "access denied" in run.err, run.err
    assert origin.requests == []
