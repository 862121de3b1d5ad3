"""The harness itself: a tool that measures has to be measured first. Needs no daemon."""

import hashlib
import json
import socket
import ssl
import struct
import subprocess

import pytest
from harness import dns as scripts
from harness import dns_wire as wire
from harness import hello
from harness.audit import ZEROS, verify_lines
from harness.client import Client
from harness.config import Bare, toml
from harness.metrics import Metrics
from harness.wait import until


def ask(world, name, rtype=wire.A, ident=7, tcp=False, seconds=2):
    """The raw answer of the world's DNS server, or None."""
    query = struct.pack("!6H", ident, 0x0100, 1, 0, 0, 0) + wire.encode_name(name)
    query += struct.pack("!2H", rtype, 1)
    kind = socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM
    with socket.socket(type=kind) as sock:
        sock.settimeout(seconds)
        sock.connect((world.dns.address, world.dns.port))
        try:
            if tcp:
                sock.sendall(struct.pack("!H", len(query)) + query)
                return sock.recv(65536)[2:]
            sock.send(query)
            return sock.recv(65536)
        except TimeoutError:
            return None


def test_dns_server_answers_addresses_of_the_type_asked(world):
    world.dns.host("a.test", "192.0.2.1", "2001:db8::1", ttl=5)
    packet = ask(world, "A.test")
    assert packet.endswith(socket.inet_aton("192.0.2.1"))
    assert struct.unpack("!6H", packet[:12]) == (7, 0x8180, 1, 1, 0, 0)
    packet = ask(world, "a.test", wire.AAAA)
    assert packet.endswith(socket.inet_pton(socket.AF_INET6, "2001:db8::1"))
    assert [q.name for q in world.dns.questions("a.test")] == ["A.test", "a.test"]


def test_dns_server_says_nxdomain_for_a_name_without_script(world):
    assert ask(world, "nowhere.test")[3] & 15 == wire.NXDOMAIN


def test_dns_server_truncates_over_udp_and_answers_over_tcp(world):
    world.dns.script("t.test", scripts.truncated_over_udp(scripts.addresses_script(["192.0.2.9"])))
    assert ask(world, "t.test")[2] & 2
    assert ask(world, "t.test", tcp=True).endswith(socket.inet_aton("192.0.2.9"))
    assert [q.transport for q in world.dns.questions("t.test")] == ["udp", "tcp"]


def test_dns_server_plays_its_scripts_in_turn_and_stays_silent(world):
    world.dns.script("r.test", scripts.in_turn(scripts.addresses_script(["192.0.2.1"]),
                                               scripts.addresses_script(["127.0.0.1"])))
    answers = [ask(world, "r.test")[-4:] for _ in range(3)]
    assert answers == [bytes([192, 0, 2, 1])] + [bytes([127, 0, 0, 1])] * 2
    world.dns.script("s.test", scripts.silent())
    assert ask(world, "s.test", seconds=0.2) is None
    world.dns.script("d.test", scripts.delayed(0.3, scripts.addresses_script(["192.0.2.1"])))
    assert ask(world, "d.test", seconds=0.1) is None
    assert ask(world, "d.test", seconds=2) is not None


def test_dns_answers_are_understood_by_a_foreign_parser(world):
    world.dns.script("c.test", scripts.chain_script(["b.test", "a.test"], ["192.0.2.77"]))
    packet = ask(world, "c.test")
    assert packet.count(wire.encode_name("b.test")) == 2
    assert packet.endswith(socket.inet_aton("192.0.2.77"))


def test_tls_origin_serves_curl_and_notes_the_name(world):
    origin = world.tls_origin("o.test")
    done = subprocess.run(
        ["curl", "-q", "-sS", "--cacert", world.certificates.ca_file, "--resolve",
         f"o.test:{origin.port}:{origin.address}", f"https://o.test:{origin.port}/x"],
        capture_output=True, check=False)
    assert done.stdout == b"ok", done.stderr
    assert origin.names() == ["o.test"]
    assert origin.paths() == ["/x"]


def test_tls_origin_with_another_curve_makes_openssl_retry(world):
    origin = world.tls_origin(curve="secp384r1")
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"{origin.address}:{origin.port}", "-servername",
         "o.test", "-groups", "X25519:P-384", "-msg"], input=b"", capture_output=True, check=False)
    assert done.stdout.count(b"ClientHello") == 2


def test_http_origin_keeps_raw_bytes_of_chunked_requests(world):
    origin = world.http_origin()
    raw = (b"POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
           b"3\r\nabc\r\n2;e=1\r\nde\r\n0\r\nT: 1\r\n\r\n")
    with Client((origin.address, origin.port)) as client:
        client.send_split(raw, 10, 50)
        assert client.read_response().body == b"ok"
    request = origin.requests[0]
    assert (request.body, request.trailers, request.complete) == (b"abcde", b"T: 1\r\n", True)
    assert origin.received == raw


def test_blackhole_never_answers(world):
    hole = world.blackhole()
    with socket.socket() as sock, pytest.raises(TimeoutError):
        sock.settimeout(0.5)
        sock.connect((hole.address, hole.port))


def test_origin_sees_half_close_and_reset(world):
    origin = world.tcp_origin()
    client = Client((origin.address, origin.port)).send(b"x").half_close()
    origin.wait_connection().wait_ended()
    assert origin.connections[0].error is None
    client.close()
    Client((origin.address, origin.port)).send(b"y").reset()
    origin.wait_connection(1).wait_ended()
    until(lambda: isinstance(origin.connections[1].error, ConnectionResetError))


@pytest.mark.parametrize("name", ["o.test", None])
def test_built_hello_is_one_that_openssl_reads(world, name):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(world.certificates.chain_file, world.certificates.key_file)
    seen = []
    context.sni_callback = lambda tls, sni, ctx: seen.append(sni)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_side=True)
    incoming.write(hello.records(hello.client_hello(name, padding=500), 1, 7, 100))
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    assert seen == [name]
    assert outgoing.read()[5] == 2, "a ServerHello"


def test_built_retry_request_makes_openssl_say_hello_again(world):
    def server(conn):
        conn.send(hello.hello_retry_request(hello.session_id(conn.recv())))
        conn.recv()
    origin = world.tcp_origin(handler=server)
    subprocess.run(["openssl", "s_client", "-connect", f"{origin.address}:{origin.port}",
                    "-servername", "o.test", "-groups", "X25519:P-256", "-ciphersuites",
                    "TLS_AES_128_GCM_SHA256"], input=b"", capture_output=True, timeout=5,
                   check=False)
    assert origin.received.count(b"o.test") == 2


def test_audit_verifier_finds_what_is_wrong():
    def line(previous, **fields):
        entry = {"ts": "2026-11-16T00:00:00.000000Z", "seq": 1, "event": "deny",
                 "verdict": "deny", "reason": "offline", **fields, "chain": "main", "prev": previous}
        return json.dumps(entry, separators=(",", ":")).encode()
    first = line(ZEROS)
    second = line(hashlib.sha256(first).hexdigest())
    verify_lines([first, second])
    torn = second[:30]
    gap = line(hashlib.sha256(first).hexdigest(), event="audit-gap",
               torn=hashlib.sha256(torn).hexdigest())
    verify_lines([first, torn, gap])
    for bad in ([second], [first, first], [first, torn], [first, torn, second],
                [line(ZEROS, event="x")], [line(ZEROS, verdict="allow")],
                [line(ZEROS, reason="because")], [line(ZEROS, extra=1)],
                [line(ZEROS, seq=0)], [line(ZEROS, event="start", colour="red")],
                [first.replace(b"offline", b"off\tine")]):
        with pytest.raises(AssertionError):
            verify_lines(bad)


def test_config_writer_makes_toml():
    import tomllib
    settings = {"a": {"n": 1, "b": True, "l": ["x", {"p": "q"}], "d": Bare("2026-01-01T00:00:00Z")},
                "agent": [{"id": "x"}, {"id": "y\n\""}]}
    read = tomllib.loads(toml(settings))
    assert read["a"]["l"] == ["x", {"p": "q"}]
    assert read["agent"][1]["id"] == 'y\n"'
    assert read["a"]["d"].year == 2026


def test_metrics_reader_sums_series():
    metrics = Metrics('# HELP x y\nx{a="1",b="2"} 3\nx{a="1",b="3"} 4\ny 1e3\n')
    assert metrics.total("x", a="1") == 7
    assert metrics.total("x", b="3") == 4
    assert metrics.total("y") == 1000
