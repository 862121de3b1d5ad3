"""After a HelloRetryRequest the client says hello again, and that hello is checked as well."""

import subprocess

import pytest
from harness import hello
from harness.wait import until

pytestmark = pytest.mark.hostile_bytes

NAME = "o.test"


def asks_again(conn):
    """Answers the first hello with a HelloRetryRequest, then listens."""
    first = conn.recv()
    conn.first_size = len(first)
    conn.send(hello.hello_retry_request(hello.session_id(first)))
    conn.recv_to_end()


def start(world, handler=asks_again, **policy):
    origin = world.tcp_origin(NAME, handler=handler)
    world.agent("alpha", allow=[NAME], **policy)
    proxy = world.start(limits={"client_hello_timeout_ms": 1500})
    client = proxy.open_tunnel(NAME, world.port)
    return proxy, origin, client


def read_retry(client):
    head = client.recv_exactly(5)
    return head + client.recv_exactly(int.from_bytes(head[3:], "big"))


CCS = hello.record(b"\x01", kind=hello.CHANGE_CIPHER_SPEC, version=0x0303)


EARLY = hello.record(b"x" * 100, kind=hello.APPLICATION_DATA, version=0x0303)


@pytest.mark.parametrize("before", [b"", CCS, CCS + EARLY, EARLY],
                         ids=["plain", "after a change cipher spec", "after both",
                              "after early data"])
def test_second_hello_with_the_same_name_passes(world, before):
    _, origin, client = start(world)
    read_retry(client)
    second = before + hello.hello_for(NAME)
    client.send(second)
    assert origin.wait_connection().wait_received(client.hello + second) == client.hello + second
    client.send(b"anything from here on")
    origin.connections[0].wait_received(b"anything from here on")


@pytest.mark.parametrize("sizes", [(1, 1, 1), (50,), (10,) * 20])
def test_second_hello_may_be_split(world, sizes):
    _, origin, client = start(world)
    read_retry(client)
    second = hello.records(hello.client_hello(NAME), *sizes)
    client.send_split(second, 3, 7, 60)
    origin.wait_connection().wait_received(client.hello + second)


@pytest.mark.parametrize("second, reasons", [
    (hello.hello_for("p.test"), {"sni-mismatch"}),
    (hello.hello_for(None), {"sni-missing"}),
    (CCS + hello.hello_for("p.test"), {"sni-mismatch"}),
    (hello.records(hello.client_hello("p.test"), 20, 30), {"sni-mismatch"}),
    (hello.records(hello.client_hello(NAME, extra=[hello.ech_extension()])), {"ech-refused"}),
    (hello.record(b"x" * 100, kind=hello.APPLICATION_DATA), {"client-hello-timeout"}),
    (b"GET / HTTP/1.1\r\n\r\n", {"not-tls"}),
    (CCS + CCS + b"plain bytes", {"not-tls"}),
], ids=["another name", "no name", "another name after a change cipher spec", "another name, split",
        "ech", "application data", "http", "not tls"])
def test_second_hello_that_does_not_hold_is_cut(world, second, reasons):
    proxy, origin, client = start(world)
    read_retry(client)
    client.send(second)
    client.recv_to_end(5)
    conn = origin.wait_connection()
    conn.wait_ended()
    # A change cipher spec has no content and may have gone ahead; of the hello there is nothing.
    assert bytes(conn.received) in (client.hello, client.hello + CCS)
    until(lambda: [line for line in proxy.audit.entries() if line.get("reason") in reasons])


def test_ech_in_a_second_hello_passes_where_it_is_allowed(world):
    _, origin, client = start(world, ech=[NAME])
    read_retry(client)
    second = hello.records(hello.client_hello(NAME, extra=[hello.ech_extension()]))
    client.send(second)
    origin.wait_connection().wait_received(client.hello + second)


@pytest.mark.parametrize("before, after", [("refuse", [NAME]), ([NAME], "refuse")])
def test_second_hello_is_judged_by_the_policy_in_force(world, before, after):
    proxy, origin, client = start(world, ech=before)
    read_retry(client)
    world.agents[0]["ech"] = after
    proxy.reload()
    proxy.audit.wait_one(event="policy")
    second = hello.records(hello.client_hello(NAME, extra=[hello.ech_extension()]))
    client.send(second)
    if after != "refuse":
        origin.wait_connection().wait_received(client.hello + second)
    else:
        client.recv_to_end(5)
        proxy.audit.wait_one(reason="ech-refused")


def test_second_hello_has_a_time_limit_too(world):
    proxy, origin, client = start(world)
    read_retry(client)
    client.send(hello.hello_for(NAME)[:30])
    client.recv_to_end(6)
    conn = origin.wait_connection()
    conn.wait_ended()
    assert bytes(conn.received) == client.hello
    proxy.audit.wait_one(reason="client-hello-timeout")


def test_retry_request_that_comes_byte_by_byte_is_recognised(world):
    def dribbles(conn):
        first = conn.recv()
        for byte in hello.hello_retry_request(hello.session_id(first)):
            conn.send(bytes([byte]))
        conn.recv_to_end()
    _, origin, client = start(world, dribbles)
    read_retry(client)
    client.send(hello.hello_for("p.test"))
    client.recv_to_end(5)
    conn = origin.wait_connection()
    conn.wait_ended()
    assert bytes(conn.received) == client.hello


def test_second_hello_that_comes_before_the_retry_request_is_not_passed_unchecked(world):
    """A client that guesses the retry and has its other hello on the way already."""
    def waits(conn):
        first = conn.recv()
        conn.release.wait(5)
        conn.send(hello.hello_retry_request(hello.session_id(first)))
        conn.recv_to_end()
    proxy, origin, client = start(world, waits)
    origin.wait_connection().wait_received(client.hello)
    client.send(hello.hello_for("p.test"))
    origin.connections[0].release.set()
    client.recv_to_end(6)
    origin.connections[0].wait_ended()
    assert b"p.test" not in origin.received
    proxy.audit.wait_one(reason="sni-mismatch")


def test_ordinary_server_hello_opens_the_relay(world):
    def answers(conn):
        conn.recv()
        conn.send(hello.server_hello())
        conn.recv_to_end()
    _, origin, client = start(world, answers)
    client.recv_exactly(len(hello.server_hello()))
    client.send(hello.hello_for("p.test"))  # now only opaque bytes
    origin.wait_connection().wait_received(b"p.test")


def test_origin_that_does_not_speak_tls_is_relayed(world):
    def talks(conn):
        conn.recv()
        conn.send(b"\xff\x00 not tls")
        conn.recv_to_end()
    _, origin, client = start(world, talks)
    assert client.recv_exactly(10) == b"\xff\x00 not tls"
    client.send(b"reply")
    origin.wait_connection().wait_received(b"reply")


def test_curl_gets_through_a_retry(world):
    origin = world.tls_origin(NAME, curve="secp384r1")
    world.agent("alpha", allow=[NAME])
    proxy = world.start()
    run = proxy.curl("--curves", "X25519:P-384", f"https://{NAME}:{world.port}/retry")
    assert run.out == b"ok", run.err
    assert origin.paths() == ["/retry"]


def test_s_server_and_s_client_get_through_a_retry(world):
    address = world.new_address()
    world.open_address(address)
    world.dns.host(NAME, address)
    world.agent("alpha", allow=[NAME])
    proxy = world.start()
    server = subprocess.Popen(
        ["openssl", "s_server", "-accept", f"{address}:{world.port}", "-groups", "P-384", "-rev",
         "-cert", world.certificates.chain_file, "-key", world.certificates.key_file, "-naccept",
         "1"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        until(lambda: server.stdout.readline().startswith(b"ACCEPT"))
        run = proxy.s_client(f"{NAME}:{world.port}", "-groups", "X25519:P-384", "-msg",
                             "-no_ign_eof", servername=NAME, data=b"stile\n")
        assert run.out.count(b"ClientHello") == 2, run.err
        assert b"Verify return code: 0 (ok)" in run.out
    finally:
        server.kill()
        server.wait()
