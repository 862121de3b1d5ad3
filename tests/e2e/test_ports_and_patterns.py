"""Patterns and ports: which destinations a rule covers, seen by what arrives at origins."""

import os

import pytest
from harness.checks import assert_denied, assert_refusal, assert_untouched

# (pattern, names that it lets through, names that it does not)
NAMES = [
    ("exact.test", ["exact.test", "EXACT.test"], 
     ["a.exact.test", "inexact.test", "exact.test.test"]),
    (".suffix.test", ["suffix.test", "a.suffix.test", "a.b.suffix.test"],
     ["notsuffix.test", "suffix.test.test", "test"]),
    ("*.below.test", ["a.below.test", "a.b.below.test"], ["below.test", "xbelow.test"]),
    (r"~^api-[0-9]+\.re\.test$", ["api-1.re.test", "api-22.re.test"],
     ["api-x.re.test", "xapi-1.re.test", "api-1.re.test.test", "api-1xre.test"]),
    (r"~bare[0-9]\.test", ["bare1.test"], ["xbare1.test", "bare1.test.test", "bare12.test"]),
]


@pytest.fixture(scope="module")
def names_proxy(shared_world):
    world = shared_world
    world.origin = world.tcp_origin()
    for _, good, bad in NAMES:
        for name in good + bad:
            world.dns.host(name, world.origin.address)
    world.agent("alpha", allow=[pattern for pattern, _, _ in NAMES])
    return world.start()


@pytest.mark.parametrize("name", [name for _, good, _ in NAMES for name in good])
def test_pattern_lets_name_through(shared_world, names_proxy, name):
    number = len(shared_world.origin.connections)
    client = names_proxy.open_tunnel(name, shared_world.port)
    shared_world.origin.wait_connection(number).wait_received(client.hello)


@pytest.mark.parametrize("name", [name for _, _, bad in NAMES for name in bad])
def test_pattern_ends_at_label_boundaries(shared_world, names_proxy, name):
    number = len(shared_world.origin.connections)
    assert_refusal(names_proxy.connect(name, shared_world.port), "host-not-allowed")
    assert len(shared_world.origin.connections) == number
    assert not shared_world.dns.questions(name)


def test_audit_names_the_rule_and_where_it_stands(world):
    world.tcp_origin("a.s.test")
    world.agent("alpha", allow=["x.test", ".s.test"], deny=["bad.s.test"])
    proxy = world.start()
    proxy.open_tunnel("a.s.test", world.port)
    rule = proxy.audit.wait_one(event="open")["rule"]
    assert ".s.test" in rule and "stile.toml" in rule
    assert_refusal(proxy.connect("bad.s.test", world.port), "host-denied")
    assert "bad.s.test" in proxy.audit.only(event="deny")["rule"]


def test_star_matches_any_name(world):
    origin = world.tcp_origin("any.thing.test")
    world.agent("alpha", allow=["*"])
    proxy = world.start()
    client = proxy.open_tunnel("any.thing.test", world.port)
    origin.wait_connection().wait_received(client.hello)


# Deny.

def test_deny_beats_allow_for_tunnels_and_plain_http(world):
    origin, plain = world.tcp_origin("x.d.test"), world.http_origin("x.d.test")
    world.agent("alpha", allow=[".d.test", "x.d.test"], deny=["x.d.test"])
    proxy = world.start()
    assert_denied(proxy, proxy.connect("x.d.test", world.port), "host-denied", method="CONNECT")
    answer = proxy.get(f"http://x.d.test:{world.http_port}/")
    assert_denied(proxy, answer, "host-denied", method="GET")
    assert_untouched(origin, plain)
    assert world.dns.seen == []


def test_deny_below_a_suffix_spares_its_siblings(world):
    origin = world.tcp_origin("ok.d.test")
    world.agent("alpha", allow=[".d.test"], deny=[".x.d.test", r"~.*secret.*\.d\.test"])
    proxy = world.start()
    client = proxy.open_tunnel("ok.d.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    for name in ("x.d.test", "y.x.d.test", "my-secret-1.d.test"):
        assert_refusal(proxy.connect(name, world.port), "host-denied")


def test_global_deny_cannot_be_undone_by_an_agent(world):
    origin = world.tcp_origin("x.test")
    listed = world.write("denied.txt", "# never\n\n.listed.test\n")
    world.agent("alpha", allow=["*", "x.test"], deny=[], deny_files=[])
    proxy = world.start(egress={"deny": ["x.test"], "deny_files": [str(listed)]})
    assert_refusal(proxy.connect("x.test", world.port), "host-denied")
    assert_refusal(proxy.connect("a.listed.test", world.port), "host-denied")
    assert_untouched(origin)


def test_deny_with_a_port_denies_that_port_only(world):
    other = world.port + 1
    origin, second = world.tcp_origin("x.test"), world.tcp_origin(port=other)
    world.agent("alpha", allow=["x.test"], deny=[f"x.test:{other}"], ports=[world.port, other])
    proxy = world.start()
    client = proxy.open_tunnel("x.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    assert_refusal(proxy.connect("x.test", other), "host-denied")
    assert_untouched(second)


def test_deny_with_the_http_scheme_leaves_tunnels_alone(world):
    origin, plain = world.tcp_origin("x.test"), world.http_origin("x.test")
    world.dns.host("x.test", origin.address)
    world.agent("alpha", allow=["x.test"], deny=[f"http://x.test:{world.http_port}"])
    proxy = world.start()
    client = proxy.open_tunnel("x.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    assert_refusal(proxy.get(f"http://x.test:{world.http_port}/"), "host-denied")
    assert_untouched(plain)


# Lists from files.

def test_list_file_has_one_pattern_a_line(world):
    origin = world.tcp_origin()
    for name in ("one.test", "a.two.test", "three.test"):
        world.dns.host(name, origin.address)
    listed = world.write("allowed.txt", "# comment\none.test\n\n  .two.test  # squid's way\n")
    world.agent("alpha", allow=[], allow_files=[str(listed)])
    proxy = world.start()
    for number, name in enumerate(["one.test", "a.two.test"]):
        client = proxy.open_tunnel(name, world.port)
        origin.wait_connection(number).wait_received(client.hello)
    assert_refusal(proxy.connect("three.test", world.port), "host-not-allowed")
    assert "allowed.txt:4" in proxy.audit.entries(event="open", host="a.two.test")[0]["rule"]


# Ports.

def test_tunnel_goes_only_to_ports(world):
    origin, other = world.tcp_origin("o.test"), world.tcp_origin(port=world.port + 1)
    world.agent("alpha", allow=["o.test"])
    proxy = world.start()
    for port in (world.port + 1, 22, 25, 80, 65535, world.http_port):
        assert_denied(proxy, proxy.connect("o.test", port), "port-not-allowed", port=port)
    assert_untouched(origin, other)
    assert world.dns.seen == []


def test_only_443_is_open_without_ports(world):
    world.agent("alpha", allow=["o.test"])
    proxy = world.proxy()
    del proxy.settings["egress"]["ports"], proxy.settings["egress"]["http_ports"]
    proxy.start()
    assert_refusal(proxy.connect("o.test", world.port), "port-not-allowed")
    assert_refusal(proxy.connect("o.test", 80), "port-not-allowed")
    assert_refusal(proxy.get("http://o.test/"), "port-not-allowed")
    assert_refusal(proxy.connect("o.test", 443), "dns-failure")


@pytest.mark.skipif(os.geteuid() != 0, reason="binding port 443 needs root")
def test_https_on_443_with_default_ports(world):
    origin = world.tls_origin("o.test", port=443)
    world.agent("alpha", allow=["o.test"])
    proxy = world.proxy()
    del proxy.settings["egress"]["ports"]
    proxy.start()
    assert proxy.curl("https://o.test/").out == b"ok"
    assert origin.names() == ["o.test"]


@pytest.mark.skipif(os.geteuid() != 0, reason="binding port 80 needs root")
def test_http_without_a_port_is_port_80(world):
    origin = world.http_origin("h.test", port=80)
    world.agent("alpha", allow=["http://h.test"])
    proxy = world.start(egress={"http_ports": []})
    assert proxy.curl("http://h.test/x").out == b"ok"
    assert origin.requests[0].value("host") == "h.test"
    assert_refusal(proxy.connect("h.test", 80), "port-not-allowed")


def test_plain_http_goes_only_to_http_ports(world):
    origin = world.http_origin("h.test", port=world.port)
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    for port in (world.port, 443, 81):
        assert_refusal(proxy.get(f"http://h.test:{port}/"), "port-not-allowed")
    assert_refusal(proxy.get("http://h.test/"), "port-not-allowed")
    assert_untouched(origin)


def test_ports_of_an_agent_replace_the_common_ones(world):
    other = world.port + 1
    world.tcp_origin("o.test")
    origin = world.tcp_origin("p.test", port=other)
    world.agent("alpha", allow=["o.test", "p.test"], ports=[other])
    proxy = world.start()
    client = proxy.open_tunnel("p.test", other)
    origin.wait_connection().wait_received(client.hello)
    assert_refusal(proxy.connect("o.test", world.port), "port-not-allowed")


def test_pattern_with_a_port_covers_that_port_and_no_other(world):
    other = world.port + 1
    plain = world.tcp_origin("p.test")
    origin = world.tcp_origin("p.test", port=other)
    world.agent("alpha", allow=[f"p.test:{other}", f".q.test:{other}", "r.test"])
    proxy = world.start()
    client = proxy.open_tunnel("p.test", other)
    origin.wait_connection().wait_received(client.hello)
    assert_refusal(proxy.connect("p.test", world.port), "host-not-allowed")
    assert_refusal(proxy.connect("r.test", other), "port-not-allowed")
    assert_refusal(proxy.connect("a.q.test", other + 1), "port-not-allowed")
    assert_refusal(proxy.connect("a.q.test", other), "dns-failure")
    assert_refusal(proxy.get(f"http://p.test:{other}/"), "port-not-allowed")
    assert_untouched(plain)


def test_http_pattern_covers_plain_http_and_no_tunnel(world):
    other = world.http_port + 1
    origin = world.http_origin("h.test", port=other)
    world.agent("alpha", allow=[f"http://h.test:{other}"])
    proxy = world.start()
    assert proxy.get(f"http://h.test:{other}/yes").status == 200
    assert_refusal(proxy.connect("h.test", other), "port-not-allowed")
    assert_refusal(proxy.connect("h.test", world.port), "host-not-allowed")
    assert_refusal(proxy.get(f"http://h.test:{world.http_port}/"), "host-not-allowed")
    assert origin.paths() == ["/yes"]
    assert len(origin.connections) == 1


def test_tcp_pattern_is_a_tunnel_without_tls_to_one_port(world):
    other = world.port + 1

    def greets(conn):
        conn.send(b"SSH-2.0-origin\r\n")
        conn.recv_to_end()
    origin = world.tcp_origin("g.test", port=other, handler=greets)
    world.agent("alpha", allow=[f"tcp://g.test:{other}"])
    proxy = world.start()
    client = proxy.tunnel("g.test", other)
    assert client.recv_exactly(16) == b"SSH-2.0-origin\r\n"
    client.send(b"SSH-2.0-client\r\n")
    origin.wait_connection().wait_received(b"SSH-2.0-client\r\n")
    assert proxy.audit.only(event="open")["verdict"] == "allow"
    assert_refusal(proxy.connect("g.test", world.port), "host-not-allowed")
    assert_refusal(proxy.connect("a.g.test", other), "port-not-allowed")
    assert_refusal(proxy.get(f"http://g.test:{other}/"), "port-not-allowed")
