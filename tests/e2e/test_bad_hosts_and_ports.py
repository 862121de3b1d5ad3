"""Hosts and ports that are not exactly right are refused, never repaired."""

import pytest
from harness.checks import assert_denied, assert_refusal, assert_untouched
from harness.wait import until

pytestmark = pytest.mark.hostile_bytes

LONG_LABEL = "a" * 64
LONG_NAME = ".".join(["a" * 60] * 4) + "." + "a" * 10  # 254 bytes

BAD_HOSTS = [
    b"", b".", b"..", b".o.test", b"o..test", b"o.test..", b"-o.test", b"o-.test", b"o.-test",
    b"o.test-", b"o_o.test", b"_o.test", b"o%2etest", b"o.test%00", b"%6f.test", b"user@o.test",
    b"user:pass@o.test", b"o.test@p.test", b"\xc3\xb6.test", b"o.test\xff", b"\xef\xbd\x8f.test",
    b"o\xe3\x80\x82test", b"o\xc2\xad.test", b"o.test,p.test", b"*.test", b"o.test#", b"o.test/",
    b"o.test?", b"o\\p.test", b"o.test;", b"o.test&", b"o'.test", b'o".test', b"o`.test",
    b"o!.test", b"o$.test", b"o=.test", b"o+.test", b"o~.test", b"o|.test", b"o<.test", b"o^.test",
    b"o{}.test", b"(o).test", b"http://o.test", LONG_LABEL.encode() + b".test", LONG_NAME.encode(),
    b"o.te st", b"o.test ", b" o.test", b"o.test\t", b"o.test\x00", b"o.test\x00.p.test",
    b"o.test\x01", b"o.test\x7f", b"o.test\x0b", b"o.test\r", b"o.test\n",
]

# {p} is the port that would be right.
BAD_PORTS = ["", "0", "00000", "65536", "65979", "99999", "100000", "+{p}", "-{p}", "{p}x", "x{p}",
             "{p}.", "{p}.0", "{p},1", " {p}", "{p} ", "0x1bb", "1e3", "{p}%20", "{p}/", "{p}?",
             "{p}#", "{p}\x00", "{p}@", "https", "\xb2", "00{p}", "184467440737095{p}"]


@pytest.fixture(scope="module")
def proxy(shared_world):
    world = shared_world
    world.origin = world.tls_origin("o.test")
    world.plain = world.http_origin("h.test")
    world.agent("alpha", allow=["*"], ports=[world.port, 1, 22])
    return world.start()


@pytest.mark.parametrize("host", BAD_HOSTS, ids=[ascii(h)[2:-1][:40] for h in BAD_HOSTS])
def test_bad_host_of_a_tunnel_is_refused(shared_world, proxy, host):
    with proxy.client() as client:
        client.send(b"CONNECT " + host + b":%d HTTP/1.1\r\nHost: x\r\n\r\n" % shared_world.port)
        answer = client.read_response("CONNECT")
    assert_denied(proxy, answer, "bad-request",
                  src=f"{proxy.addresses['alpha']}:{client.local_port}")
    assert_untouched(shared_world.origin)
    assert shared_world.dns.seen == []


@pytest.mark.parametrize("host", BAD_HOSTS, ids=[ascii(h)[2:-1][:40] for h in BAD_HOSTS])
def test_bad_host_of_a_url_is_refused(shared_world, proxy, host):
    with proxy.client() as client:
        authority = host + b":%d" % shared_world.http_port
        client.send(b"GET http://" + authority + b"/ HTTP/1.1\r\nHost: " + authority + b"\r\n\r\n")
        answer = client.read_response()
    assert_refusal(answer, "bad-request")
    assert_untouched(shared_world.plain)
    assert shared_world.dns.seen == []


@pytest.mark.parametrize("port", BAD_PORTS)
def test_bad_port_of_a_tunnel_is_refused(shared_world, proxy, port):
    with proxy.client() as client:
        text = port.format(p=shared_world.port)
        client.send(f"CONNECT o.test:{text} HTTP/1.1\r\nHost: x\r\n\r\n".encode("latin-1"))
        assert_refusal(client.read_response("CONNECT"), "bad-request")
    assert_untouched(shared_world.origin)


@pytest.mark.parametrize("port", [p for p in BAD_PORTS if p not in ("", "{p}/", "{p}?")])
def test_bad_port_of_a_url_is_refused(shared_world, proxy, port):
    with proxy.client() as client:
        text = port.format(p=shared_world.http_port)
        client.send(f"GET http://h.test:{text}/ HTTP/1.1\r\n"
                    f"Host: h.test:{text}\r\n\r\n".encode("latin-1"))
        assert_refusal(client.read_response(), "bad-request")
    assert_untouched(shared_world.plain)


@pytest.mark.parametrize("target", ["o.test", "o.test:{p}:22", "o.test:22:{p}", ":{p}", "/", "*",
                                    "http://o.test:{p}/", "//o.test:{p}", "o.test:{p}/path",
                                    "o.test: {p}", "o.test :{p}"])
def test_target_of_connect_that_is_not_host_and_port_is_refused(shared_world, proxy, target):
    with proxy.client() as client:
        text = target.format(p=shared_world.port)
        client.send(f"CONNECT {text} HTTP/1.1\r\nHost: o.test\r\n\r\n".encode())
        answer = client.read_response("CONNECT")
    # A host with a colon in it looks like an IPv6 address, which is tested first.
    assert answer.reason in ({"bad-request", "ip-literal"} if text.count(":") > 1
                             else {"bad-request"})
    assert_untouched(shared_world.origin)
    assert shared_world.dns.seen == []


@pytest.mark.parametrize("host", ["O.TEST", "o.test.", "O.TesT."])
def test_case_and_one_trailing_dot_are_the_same_name(world, host):
    origin = world.tls_origin("o.test")
    world.agent("alpha", allow=["o.test"])
    proxy = world.start()
    with proxy.client() as client:
        assert client.connect_to(host, world.port).status == 200
        client.start_tls("o.test", proxy.ca_file)
    until(lambda: origin.names() == ["o.test"])
    assert proxy.audit.only(event="open")["host"] == "o.test"
    assert {q.key for q in world.dns.seen} == {"o.test"}


def test_longest_legal_name_is_a_name(world):
    name = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 56, "test"])
    assert len(name) == 253
    origin = world.tcp_origin(name)
    world.agent("alpha", allow=[name])
    proxy = world.start()
    client = proxy.open_tunnel(name, world.port)
    origin.wait_connection().wait_received(client.hello)


def test_underscore_is_allowed_where_a_rule_names_it(world):
    origin = world.tcp_origin("a_b.test")
    world.agent("alpha", allow=["a_b.test"])
    world.agent("beta", allow=[".test"])
    proxy = world.start()
    client = proxy.open_tunnel("a_b.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    assert_refusal(proxy.connect("a_b.test", world.port, agent="beta"), "bad-request")
